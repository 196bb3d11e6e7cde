// Text from outside: names that appear in messages, in JSON and on the caller's terminal.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace shw {

// Whether eight bytes from `at` on are there, all ASCII and none of them zero.
inline bool is_ascii_word(std::string_view s, size_t at) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  uint64_t word = 0;
  if (s.size() - at < sizeof word) return false;
  std::memcpy(&word, s.data() + at, sizeof word);
  // Without high bits, a subtraction borrows only behind a zero byte.
  return (word & kHighs) == 0 && ((word - kOnes) & kHighs) == 0;
}

// Well-formed UTF-8 (Unicode 15, table 3-7) without zero bytes, which would terminate a C string.
inline bool is_text(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  for (size_t i = 0; i < s.size();) {
    if (is_ascii_word(s, i)) {
      i += sizeof(uint64_t);
      continue;
    }
    const uint8_t first = byte(i);
    if (first == 0 || (first >= 0x80 && first < 0xc2) || first > 0xf4) return false;
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (i + length > s.size()) return false;
    for (size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    if ((first == 0xe0 && byte(i + 1) < 0xa0) || (first == 0xed && byte(i + 1) > 0x9f) ||
        (first == 0xf0 && byte(i + 1) < 0x90) || (first == 0xf4 && byte(i + 1) > 0x8f))
      return false;
    i += length;
  }
  return true;
}

}  // namespace shw
