// Names like one that there is not, for messages: "did you mean …?".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace shw {

// Those at the smallest edit distance from `name`, the nearest first; none that has little in
// common with it.
std::vector<std::string> most_similar(std::string_view name, std::vector<std::string> names,
                                      size_t most = 3);

// "; did you mean a, b?", or "" where nothing is near.
std::string did_you_mean(std::string_view name, std::vector<std::string> names);

}  // namespace shw
