// The overloads that are expanded into several nodes (expansion.h), and those that cannot be.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace shw::import {

struct Decomposition {
  std::string_view arguments;  // in order, separated by spaces: "self dim=-1"
  std::string_view text;       // or '@' and a function of decompose.h
};
// `target`: as FX prints it.
std::optional<Decomposition> find_decomposition(std::string_view target);
// Why there is none and will be none; empty: not known.
std::string_view why_refused(std::string_view target);
// Names without "aten." and ".default".
std::vector<std::string_view> decomposed_targets();

}  // namespace shw::import
