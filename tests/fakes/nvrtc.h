// What the fake NVRTC hands to the fake driver.
#pragma once

namespace shw::fakes {
inline constexpr char kFakeBinary[] = "FAKE: the kernels, as they were compiled for the host";
}
