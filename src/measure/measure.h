// Measures this machine, and writes the hardware description that the planner uses.
//
// It times small plans (probe.h): kernels at a few sizes on one rank, and collectives in groups of
// several ranks. The ranks are virtual on the CPU, and have one device each on GPUs. Measuring
// takes some seconds, on all cores or devices.
#pragma once
#include <string>
#include <string_view>

#include "answers/calibration.h"

namespace shw::measure {

// `device`: "cpu" or "cuda". `name`: of the result; empty: "cpu-measured", "cuda-measured".
// UNAVAILABLE: there is no such device, or it cannot be used. INVALID_ARGUMENT: another name.
Result<answers::CalibrationReport> measure(std::string_view device, const std::string& name);

}  // namespace shw::measure
