// What printer and parser of the text form agree on: plain words, quoting, metadata keys.
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

// Indices are enumerators.
inline constexpr std::array<std::string_view, 2> kPhases = {"forward", "backward"};
inline constexpr std::array<std::string_view, 5> kRecompute = {
    "unset", "must_save", "prefer_save", "prefer_recompute", "must_recompute"};

// "…" with \" \\ \n \t and \xhh for other control characters.
std::string quote(std::string_view s);
// Two hexadecimal digits a byte.
std::string hex(std::span<const uint8_t> bytes);

// How the outputs refer to input i: "tok.weight" for the parameter of that name, else
// "buffer.freqs_cis"; "#3" where that is no plain word or not unique.
std::vector<std::string> input_references(const Graph& graph);

}  // namespace shw::text
