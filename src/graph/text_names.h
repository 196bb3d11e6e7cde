// Conventions that the printer and the parser of the text form share: plain words, quoting,
// metadata keys.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace shw::text {

constexpr bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '-';
}

// Indexed by the enumerators of Recompute.
inline constexpr std::array<std::string_view, 2> kPhases = {"forward", "backward"};
inline constexpr std::array<std::string_view, 5> kRecompute = {
    "unset", "must_save", "prefer_save", "prefer_recompute", "must_recompute"};

// "…" with \" \\ \n \t and \xhh for other control characters.
std::string quote(std::string_view s);
// Two hexadecimal digits a byte.
std::string hex(std::span<const uint8_t> bytes);

// The name by which outputs refer to input i: "tok.weight" for the parameter of that name; for
// others the full name, "buffer.freqs_cis"; "#3" if the name is not a plain word or not unique.
std::vector<std::string> input_references(const Graph& graph);

}  // namespace shw::text
