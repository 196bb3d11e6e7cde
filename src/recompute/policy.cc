#include "recompute/policy.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace shw {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"none", "cheap", "selective", "full", "every:"};

}  // namespace

Result<RecomputePolicy> recompute_policy(std::string_view text) {
  RecomputePolicy policy;
  const std::string_view name =
      text.substr(0, text.find(':') + 1 == 0 ? text.size() : text.find(':') + 1);
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  policy.kind = static_cast<RecomputePolicy::Kind>(it - kNames.begin());
  bool good = it != kNames.end();
  if (good && policy.kind == RecomputePolicy::Kind::kEvery) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + name.size(), end, policy.every);
    good = read.ec == std::errc() && read.ptr == end && policy.every > 0;
  }
  if (good) return policy;
  return invalid_argument("recompute '" + std::string(text) +
                          "': expected none, cheap, selective, full, or every:N with N of at "
                          "least 1");
}

std::string to_string(const RecomputePolicy& policy) {
  const std::string name(kNames[static_cast<size_t>(policy.kind)]);
  return policy.kind == RecomputePolicy::Kind::kEvery ? name + std::to_string(policy.every) : name;
}

}  // namespace shw
