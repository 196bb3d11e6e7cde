// What the fake NVRTC hands to the fake driver.
#pragma once

namespace shw::fakes {
// What a binary begins with; the name of its program follows, and a zero. Of generated code the
// name is kGenerated, and its size as text, a zero and the bytes of a shared object follow, with
// the functions that host_compiler.cc says.
inline constexpr char kFakeBinary[] = "FAKE: compiled for the host: ";
inline constexpr char kGenerated[] = "generated";
}  // namespace shw::fakes
