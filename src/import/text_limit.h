// How much text a call reads: a small gzipped file may inflate to any size.
#pragma once
#include <cstdint>
#include <string>

#include "support/status.h"

namespace shw::import {

// A graph of 32 layers takes 8 MB of JSON, and as a document several times that memory.
inline constexpr uint64_t kDefaultMaxTextBytes = 512ull << 20;

// RESOURCE_EXHAUSTED: `bytes` of text, which `what` has, are more than `max_text_bytes`.
Status check_text_size(const std::string& what, uint64_t bytes, uint64_t max_text_bytes);

}  // namespace shw::import
