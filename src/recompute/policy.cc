#include "recompute/policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace shw {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"none", "cheap",  "selective",
                                                    "full", "every:", "auto"};
constexpr std::string_view kKeepGathered = "+gathered";

// The policy without its suffix; nothing: the text is none.
std::optional<RecomputePolicy> read(std::string_view text) {
  using Kind = RecomputePolicy::Kind;
  RecomputePolicy policy;
  const size_t colon = text.find(':');
  const size_t length = colon == std::string_view::npos ? text.size() : colon + 1;
  const auto it = std::find(kNames.begin(), kNames.end(), text.substr(0, length));
  if (it == kNames.end()) return std::nullopt;
  policy.kind = static_cast<Kind>(it - kNames.begin());
  if (policy.kind != Kind::kEvery) return policy;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data() + length, end, policy.every);
  if (number.ec != std::errc() || number.ptr != end || policy.every == 0) return std::nullopt;
  return policy;
}

}  // namespace

Result<RecomputePolicy> recompute_policy(std::string_view text) {
  const bool keep_gathered = text.ends_with(kKeepGathered);
  auto policy = read(keep_gathered ? text.substr(0, text.size() - kKeepGathered.size()) : text);
  using Kind = RecomputePolicy::Kind;
  if (!policy || (keep_gathered && (policy->kind == Kind::kNone || policy->kind == Kind::kAuto)))
    return invalid_argument("recompute '" + std::string(text) +
                            "': expected none or auto, or cheap, selective, full or every:N with N "
                            "of at least 1, and +gathered behind where parameters stay gathered");
  policy->keep_gathered = keep_gathered;
  return *policy;
}

std::string to_string(const RecomputePolicy& policy) {
  std::string text(kNames[static_cast<size_t>(policy.kind)]);
  if (policy.kind == RecomputePolicy::Kind::kEvery) text += std::to_string(policy.every);
  return policy.keep_gathered ? text + std::string(kKeepGathered) : text;
}

}  // namespace shw
