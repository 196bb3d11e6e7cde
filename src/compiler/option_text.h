// The values of options as texts, by their types. Different values have different texts. Those of
// values that a person writes in one word are the words that the tool takes.
#pragma once
#include <string>

#include "compiler/options.h"

namespace shw {

inline std::string option_text(const std::string& text) { return text; }
std::string option_text(bool flag);  // "yes", "no"
std::string option_text(int64_t number);
std::string option_text(uint32_t number);
std::string option_text(double number);
std::string option_text(Rules rules);
std::string option_text(const std::optional<Dtype>& dtype);  // none: ""
std::string option_text(const ParameterBudget& budget);      // "default", "none", "0.5"
std::string option_text(const OverlapOptions& overlap);      // "none", "bounded", "prefetch 0.25"
std::string option_text(const RecomputePolicy& policy);
// Lists, their items apart by what no text has.
std::string option_text(const Names& names);
std::string option_text(const NamedLayouts& layouts);
std::string option_text(const Buckets& buckets);

}  // namespace shw
