// Suggests names similar to an unknown one: "did you mean …?".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace shw {

// The names at the smallest edit distance from `name`, the nearest first; names with little in
// common are excluded.
std::vector<std::string> most_similar(std::string_view name, std::vector<std::string> names,
                                      size_t most = 3);

// "; did you mean a, b?", or "" if no name is similar.
std::string did_you_mean(std::string_view name, std::vector<std::string> names);

}  // namespace shw
