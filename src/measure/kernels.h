// Times of kernels on one device, and the rates that follow from them.
#pragma once
#include "cost/hardware.h"

namespace shw::measure {

// Fills in everything but the name and the cores, and says what each figure rests on.
Status measure_kernels(cost::DeviceSpec& device, std::vector<cost::FigureBasis>& bases);

}  // namespace shw::measure
