// Which keys a query of attention sees by their positions: attributes `is_causal`, `window_left`
// and `window_right`.
#pragma once
#include <cstdint>

#include "support/status.h"
#include "tensor/attrs.h"

namespace shw {

// Query i sees keys i − left … i + right, as far as there are such keys. Positions count from the
// first query and the first key, also where there are more of one than of the other.
struct KeyWindow {
  int64_t left = 0, right = 0;  // unbounded: as many as reach all there are
};

// `is_causal` is a window_right of 0; −1 is no bound. INVALID_ARGUMENT: another negative number.
Result<KeyWindow> key_window(const Attrs& attrs, int64_t queries, int64_t keys);

// Whether one of the two bounds is given.
bool has_window(const Attrs& attrs);

// How many pairs of a query and a key there are in which the query sees the key.
double visible_pairs(const KeyWindow& window, int64_t queries, int64_t keys);

}  // namespace shw
