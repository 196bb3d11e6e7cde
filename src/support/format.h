// Formatted text for tables and charts.
#pragma once
#include <cstdio>
#include <string>

namespace shw {

// Like printf, of any length.
template <class... Args>
std::string format(const char* pattern, Args... args) {
  std::string text(static_cast<size_t>(std::snprintf(nullptr, 0, pattern, args...)), '\0');
  std::snprintf(text.data(), text.size() + 1, pattern, args...);
  return text;
}

}  // namespace shw
