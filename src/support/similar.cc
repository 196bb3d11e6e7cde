#include "support/similar.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace shw {
namespace {

constexpr size_t kLongest = 256;  // of compared names: the time is the product of lengths

// Counts single-character insertions, deletions and substitutions.
uint32_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<uint32_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<uint32_t>(j);
  for (size_t i = 0; i < a.size(); ++i) {
    uint32_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const uint32_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> most_similar(std::string_view name, std::vector<std::string> names,
                                      size_t most) {
  std::vector<std::pair<uint32_t, std::string>> near;
  for (std::string& other : names) {
    if (std::max(name.size(), other.size()) > kLongest) continue;
    const bool contains = !name.empty() && other.find(name) != std::string::npos;
    const uint32_t distance = edit_distance(name, other);
    if (contains || size_t{2} * distance <= std::max(name.size(), other.size()))
      near.emplace_back(distance, std::move(other));
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> list;
  for (size_t i = 0; i < std::min(most, near.size()); ++i)
    list.push_back(std::move(near[i].second));
  return list;
}

std::string did_you_mean(std::string_view name, std::vector<std::string> names) {
  std::string text;
  for (const std::string& other : most_similar(name, std::move(names)))
    text += (text.empty() ? "; did you mean " : ", ") + other;
  return text.empty() ? text : text + "?";
}

}  // namespace shw
