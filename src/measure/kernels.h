// Times of kernels on one device, and the rates that follow from them.
#pragma once
#include "cost/hardware.h"

namespace shw::measure {

// Fills in everything except the name and the cores, and records the basis of each figure.
Status measure_kernels(cost::DeviceSpec& device, std::vector<cost::FigureBasis>& bases);

}  // namespace shw::measure
