// The definition of an attention window that tests use as a reference: which key positions a query
// sees.
#pragma once
#include <cstdint>

#include "tensor/attrs.h"

namespace shw::cts {

// `left`, `right`: negative for no bound.
inline bool in_window(int64_t query, int64_t key, bool causal, int64_t left, int64_t right) {
  return (left < 0 || key >= query - left) && (right < 0 || key <= query + right) &&
         (!causal || key <= query);
}
inline Attrs window_attrs(bool causal, int64_t left, int64_t right) {
  Attrs a;
  a.set(AttrKey::kCausal, causal);
  a.set(AttrKey::kWindowLeft, left);
  a.set(AttrKey::kWindowRight, right);
  return a;
}

}  // namespace shw::cts
