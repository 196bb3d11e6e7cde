// What sdpa and its backward pass share.
//
// Operand `documents`: several documents in one row of the batch, one behind the other. [batch,
// n + 1] integers: each row begins with 0, and then has the end of each document; the last end is
// repeated where a row has fewer than n. A query sees the keys of its own document. What lies
// behind the last end is in none: its queries see nothing, and nobody sees its keys.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

// That operand `at` is absent, or fits `query` and `key`.
Status want_documents(const OpArgs& args, size_t at, const TensorType& query,
                      const TensorType& key);

// That the attributes of the window are ones (tensor/key_window.h).
Status want_window(const OpArgs& args, const TensorType& query, const TensorType& key);

// Pairs of a query and a key that a head multiplies. Those that a window hides are not counted;
// those that a causal mask alone hides are, as by the reference planner.
double scored_pairs(const OpArgs& args, const TensorType& query, const TensorType& key);

}  // namespace shw::ops
