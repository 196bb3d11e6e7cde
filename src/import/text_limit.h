// How much text a call reads: a small gzipped file may inflate to any size.
#pragma once
#include <cstdint>

namespace shw::import {

// A graph of 32 layers takes 8 MB of JSON, and as a document several times that memory.
inline constexpr uint64_t kDefaultMaxTextBytes = 512ull << 20;

}  // namespace shw::import
