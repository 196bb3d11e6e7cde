// The overloads that are expanded into several nodes (expansion.h), and those that cannot be.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace shw::import {

struct Decomposition {
  std::string_view arguments;  // in order, separated by spaces: "self dim=-1"
  std::string_view text;       // or '@' and the name of a function of decompose.h
};
// `target`: as FX prints it.
std::optional<Decomposition> find_decomposition(std::string_view target);
// The reason why the overload is not supported; empty: it is not on the list of refused overloads.
std::string_view why_refused(std::string_view target);
// Names without "aten." and ".default".
std::vector<std::string_view> decomposed_targets();

}  // namespace shw::import
