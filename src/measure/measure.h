// Measures a device of this machine, and describes it as hardware that plans can be made for.
//
// What is timed are small plans on virtual ranks (probe.h): kernels at a few sizes on one rank, and
// collectives in groups of several. It takes some seconds, on all cores.
#pragma once
#include <string>
#include <string_view>

#include "answers/calibration.h"

namespace shw::measure {

// `device`: "cpu". `name`: of the result; empty: "cpu-measured". UNIMPLEMENTED: "cuda", which has
// not run on a GPU yet. INVALID_ARGUMENT: another name.
Result<answers::CalibrationReport> measure(std::string_view device, const std::string& name);

}  // namespace shw::measure
