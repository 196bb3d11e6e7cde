// Times accelerators through the HAL (runtime/hal.h), with the HAL's events as the clock.
#pragma once
#include <string>
#include <vector>

#include "answers/calibration.h"
#include "runtime/rank_backend.h"

namespace shw::measure {

// Sizes at which a device is measured. Fast devices need large ones.
struct AcceleratorSizes {
  std::vector<int64_t> products = {16, 64, 256, 1024, 4096};  // sizes along each of three axes
  int64_t rate = 4096;  // side of the square product that determines the rate
  std::vector<int64_t> keys = {128, 512, 2048, 4096}, widths = {64, 128};  // of attention
  int64_t heads = 32;                 // computed at once, to use the whole device
  int64_t copied = int64_t{1} << 28;  // bytes; exceeds caches
  int64_t between = 512;              // side of the product between two collectives
  std::vector<int64_t> collectives = {1 << 12, 1 << 17, 1 << 20, 1 << 24, 1 << 27};  // bytes
};

// Measures `devices` devices of one kind, one for each rank that `backend` opens. Figures that are
// not measured are taken from `base` and marked as a fallback. `name`: of the result.
Result<answers::CalibrationReport> measure_accelerators(const runtime::RankBackend& backend,
                                                        int64_t devices,
                                                        const AcceleratorSizes& sizes,
                                                        const cost::Hardware& base,
                                                        const std::string& name);

}  // namespace shw::measure
