// What reader and writer of plan bytes must agree on beyond schemas/plan.fbs.
#pragma once
#include <cstdint>

namespace shw::plan_format {

inline constexpr uint32_t kVersion = 1;
inline constexpr uint64_t kTrailerBytes = 16;  // version, zero, checksum
inline constexpr uint64_t kMaxBytes =
    1ull << 30;  // FlatBuffers ends at 2 GiB; a plan of 8 540 nodes takes 3 MB
inline constexpr uint64_t kBaseAlignment = 16;  // of the bytes that FlatBuffers reads in place
extern const char* const kLibraryVersion;       // that of base.h

}  // namespace shw::plan_format
