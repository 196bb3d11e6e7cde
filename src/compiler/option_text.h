// Writes the values of options as texts, by type. Different values have different texts. A value
// that the command line takes as one word is written as that word.
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
// Lists. Their items are separated by a character that no text contains.
std::string option_text(const Names& names);
std::string option_text(const NamedLayouts& layouts);
std::string option_text(const Buckets& buckets);

}  // namespace shw
