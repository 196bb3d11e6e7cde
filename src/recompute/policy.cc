#include "recompute/policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace shw {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"none", "cheap",  "selective",
                                                    "full", "every:", "auto"};
struct Suffix {
  std::string_view text;
  bool RecomputePolicy::*field;
};
constexpr Suffix kSuffixes[] = {{"+first-add", &RecomputePolicy::keep_first_add},
                                {"+gathered", &RecomputePolicy::keep_gathered}};

// Parses a policy without its suffixes; nothing if the text is not a policy.
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
  std::string_view name = text;
  RecomputePolicy given;
  for (bool found = true; found;) {
    found = false;
    for (const auto& [suffix, field] : kSuffixes)
      if (!(given.*field) && name.ends_with(suffix)) {
        name.remove_suffix(suffix.size());
        given.*field = found = true;
      }
  }
  auto policy = read(name);
  using Kind = RecomputePolicy::Kind;
  const bool takes_none = policy && (policy->kind == Kind::kNone || policy->kind == Kind::kAuto);
  if (!policy || (takes_none && name != text))
    return invalid_argument(
        "recompute '" + std::string(text) +
        "': expected none or auto, or cheap, selective, full or every:N with N of at least 1, and "
        "behind these +first-add where the first sum of each block is kept, +gathered where "
        "parameters stay gathered");
  for (const auto& [suffix, field] : kSuffixes) (*policy).*field = given.*field;
  return *policy;
}

std::string to_string(const RecomputePolicy& policy) {
  std::string text(kNames[static_cast<size_t>(policy.kind)]);
  if (policy.kind == RecomputePolicy::Kind::kEvery) text += std::to_string(policy.every);
  for (const auto& [suffix, field] : kSuffixes)
    if (policy.*field) text += suffix;
  return text;
}

}  // namespace shw
