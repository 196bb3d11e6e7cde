// The device code as text: CMake makes kernel_sources.cc of the files of this folder.
#pragma once
#include <span>

namespace shw::runtime::cuda {

struct KernelSource {
  const char* name;  // as the device code includes it
  const char* text;
};
// A program is one of them: NAME.cuh.
std::span<const KernelSource> kernel_headers();

}  // namespace shw::runtime::cuda
