// Which CUDA device, and where NVIDIA's libraries are.
#pragma once
#include <string>

namespace shw::runtime::cuda {

struct Options {
  int index = 0;                  // of the device, as the driver counts
  std::string folder = {};        // where NVIDIA's libraries are; empty: where the system looks
  std::string kernel_cache = {};  // a folder of compiled kernels; empty: none is kept
};

}  // namespace shw::runtime::cuda
