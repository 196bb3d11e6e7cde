// The device code as text: CMake makes kernel_sources.cc of the files of this folder.
#pragma once
#include <span>

namespace shw::runtime::cuda {

struct KernelSource {
  const char* name;  // as the device code includes it
  const char* text;
};
std::span<const KernelSource> kernel_headers();
const char* kernel_program();  // includes every kernel

}  // namespace shw::runtime::cuda
