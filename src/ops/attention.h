// Shared by sdpa and its backward pass.
//
// Operand `documents` describes several documents that are packed into one row of the batch. It is
// [batch, n + 1] integers: each row begins with 0, followed by the end of each document. If a row
// has fewer than n documents, the last end is repeated. A query sees only the keys of its own
// document. Positions after the last end belong to no document: their queries see no keys, and no
// query sees their keys.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

// Checks that operand `at` is absent, or fits `query` and `key`.
Status want_documents(const OpArgs& args, size_t at, const TensorType& query,
                      const TensorType& key);

// Checks that the attributes of the window are valid (tensor/key_window.h).
Status want_window(const OpArgs& args, const TensorType& query, const TensorType& key);

// Whether a part of the weights is set to zero: `dropout_p` is not 0.
bool has_dropout(const Attrs& attrs);
// Checks that `dropout_p` is from 0 to 1.
Status want_dropout_share(const OpArgs& args);

// The number of pairs of a query and a key that a head multiplies. Pairs that a window hides are
// not counted. Pairs that only a causal mask hides are counted, as in the reference planner.
double scored_pairs(const OpArgs& args, const TensorType& query, const TensorType& key);

}  // namespace shw::ops
