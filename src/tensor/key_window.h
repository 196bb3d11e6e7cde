// The window of attention: which keys a query sees by their positions. Attributes: `is_causal`,
// `window_left` and `window_right`.
#pragma once
#include <cstdint>

#include "support/status.h"
#include "tensor/attrs.h"

namespace shw {

// Query i sees those of the keys i − left … i + right that exist. Positions count from the first
// query and from the first key, even if their numbers differ.
struct KeyWindow {
  int64_t left = 0, right = 0;  // unbounded: large enough to reach all keys
};

// `is_causal` means a window_right of 0. −1 means no bound. INVALID_ARGUMENT: another negative
// number.
Result<KeyWindow> key_window(const Attrs& attrs, int64_t queries, int64_t keys);

// Whether at least one of the two bounds is given.
bool has_window(const Attrs& attrs);

// The number of pairs of a query and a key in which the query sees the key.
double visible_pairs(const KeyWindow& window, int64_t queries, int64_t keys);

}  // namespace shw
