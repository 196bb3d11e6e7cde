#include "compiler/option_text.h"

#include "support/format.h"

namespace shw {
namespace {

constexpr char kApart = '\0';

}  // namespace

std::string option_text(bool flag) { return flag ? "yes" : "no"; }
std::string option_text(int64_t number) { return std::to_string(number); }
std::string option_text(uint32_t number) { return std::to_string(number); }
std::string option_text(double number) { return format("%.17g", number); }
std::string option_text(Rules rules) { return std::string(rules_name(rules)); }

std::string option_text(const std::optional<Dtype>& dtype) {
  return dtype ? std::string(dtype_name(*dtype)) : "";
}

std::string option_text(const ParameterBudget& budget) {
  switch (budget.kind) {
    case ParameterBudget::Kind::kSmallest:
      return "default";
    case ParameterBudget::Kind::kNone:
      return "none";
    case ParameterBudget::Kind::kFactor:
      break;
  }
  return option_text(budget.factor);
}

std::string option_text(const OverlapOptions& overlap) {
  const std::string kind =
      hides_nothing(overlap.kind) ? "none" : to_string(OverlapOptions{.kind = overlap.kind});
  return overlap.scale == 0 ? kind : kind + ' ' + option_text(overlap.scale);
}

std::string option_text(const RecomputePolicy& policy) { return to_string(policy); }

std::string option_text(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + kApart;
  return text;
}

std::string option_text(const NamedLayouts& layouts) {
  std::string text;
  for (const auto& [name, layout] : layouts) text += name + kApart + layout + kApart;
  return text;
}

std::string option_text(const Buckets& buckets) {
  std::string text;
  for (const BucketSizes& b : buckets) {
    text += b.entry + kApart + b.symbol + kApart;
    for (const int64_t size : b.sizes) text += std::to_string(size) + ',';
    text += kApart;
  }
  return text;
}

}  // namespace shw
