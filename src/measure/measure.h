// Measures this machine, and describes it as hardware that plans can be made for.
//
// What is timed are small plans (probe.h): kernels at a few sizes on one rank, and collectives in
// groups of several: of the CPU with virtual ranks, of GPUs with a device a rank. It takes some
// seconds, on all cores or devices.
#pragma once
#include <string>
#include <string_view>

#include "answers/calibration.h"

namespace shw::measure {

// `device`: "cpu" or "cuda". `name`: of the result; empty: "cpu-measured", "cuda-measured".
// UNAVAILABLE: there is no such device, or it cannot be used. INVALID_ARGUMENT: another name.
Result<answers::CalibrationReport> measure(std::string_view device, const std::string& name);

}  // namespace shw::measure
