// What the fake NVRTC hands to the fake driver.
#pragma once

namespace shw::fakes {
// What a binary begins with; the name of its program follows.
inline constexpr char kFakeBinary[] = "FAKE: compiled for the host: ";
}  // namespace shw::fakes
