// Selects a CUDA device and the location of NVIDIA's libraries.
#pragma once
#include <string>

namespace shw::runtime::cuda {

struct Options {
  int index = 0;                  // device number of the driver
  std::string folder = {};        // NVIDIA's libraries; empty: the system's library path
  std::string kernel_cache = {};  // folder for compiled kernels; empty: they are not kept
  // Results have the same bits in each run: kernels whose order of summation varies between runs
  // are not used, although they are faster.
  bool deterministic = false;
};

// The same options for another device number.
inline Options of_index(Options options, int index) {
  options.index = index;
  return options;
}

}  // namespace shw::runtime::cuda
