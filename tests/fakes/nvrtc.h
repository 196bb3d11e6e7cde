// The format of the binaries that the fake NVRTC makes and the fake driver loads.
#pragma once

namespace shw::fakes {
// Every binary begins with kFakeBinary, then the name of its program and a zero byte. The name
// kGenerated marks generated code. Then the size of a shared object as text, a zero byte and the
// shared object follow. The object exports the functions that host_compiler.h describes.
inline constexpr char kFakeBinary[] = "FAKE: compiled for the host: ";
inline constexpr char kGenerated[] = "generated";
}  // namespace shw::fakes
