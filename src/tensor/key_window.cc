#include "tensor/key_window.h"

#include <algorithm>
#include <string>
#include <utility>

namespace shw {
namespace {

constexpr int64_t kNoBound = -1;

// The sum of min(t, most) over t from 0 to n − 1. In doubles, which do not overflow.
double sum_of_steps(double n, double most) {
  const double rising = std::min(n, most);
  return rising * (rising - 1) / 2 + (n - rising) * most;
}

}  // namespace

Result<KeyWindow> key_window(const Attrs& attrs, int64_t queries, int64_t keys) {
  KeyWindow window{queries, keys};
  for (const auto& [key, bound] : {std::pair(AttrKey::kWindowLeft, &window.left),
                                   std::pair(AttrKey::kWindowRight, &window.right)}) {
    const int64_t given = attrs.get_int(key, kNoBound);
    if (given < kNoBound)
      return invalid_argument(std::string(attr_key_name(key)) + " is " + std::to_string(given) +
                              "; expected a number of keys, or -1 for no bound");
    if (given != kNoBound) *bound = std::min(*bound, given);
  }
  if (attrs.get_bool(AttrKey::kCausal, false)) window.right = 0;
  return window;
}

bool has_window(const Attrs& attrs) {
  return attrs.get_int(AttrKey::kWindowLeft, kNoBound) != kNoBound ||
         attrs.get_int(AttrKey::kWindowRight, kNoBound) != kNoBound;
}

double visible_pairs(const KeyWindow& window, int64_t queries, int64_t keys) {
  const auto n = static_cast<double>(queries), all = static_cast<double>(keys),
             beyond = static_cast<double>(window.right) + 1;
  // Query i sees min(keys, i + right + 1) keys less the min(keys, i − left) before its window.
  const double up_to_end = sum_of_steps(n + beyond, all) - sum_of_steps(beyond, all);
  return up_to_end - sum_of_steps(std::max(0.0, n - static_cast<double>(window.left)), all);
}

}  // namespace shw
