// The operand `documents` of attention: several documents in one row of the batch, one behind the
// other. [batch, n + 1] integers: each row begins with 0, and then has the end of each document;
// the last end is repeated where a row has fewer than n.
//
// A query sees the keys of its own document. What lies behind the last end is in none: its queries
// see nothing, and nobody sees its keys.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

// That operand `at` is absent, or fits `query` and `key`.
Status want_documents(const OpArgs& args, size_t at, const TensorType& query,
                      const TensorType& key);

}  // namespace shw::ops
