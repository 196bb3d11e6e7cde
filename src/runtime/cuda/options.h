// Which CUDA device, and where NVIDIA's libraries are.
#pragma once
#include <string>

namespace shw::runtime::cuda {

struct Options {
  int index = 0;                  // of the device, as the driver counts
  std::string folder = {};        // where NVIDIA's libraries are; empty: where the system looks
  std::string kernel_cache = {};  // a folder of compiled kernels; empty: none is kept
  // Results have the same bits in each run: no kernel that adds up in an order that differs from
  // run to run is taken, though it is faster.
  bool deterministic = false;
};

// The same for the device of another number.
inline Options of_index(Options options, int index) {
  options.index = index;
  return options;
}

}  // namespace shw::runtime::cuda
