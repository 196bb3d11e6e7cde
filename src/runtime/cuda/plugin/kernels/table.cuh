// Rows of a table of which a rank has a part, and elements moved by their bits.
#pragma once
#include "device.cuh"

namespace shw::runtime::cuda {

__device__ inline bool exists(const TableRows& rows, i64 index) {
  return index >= 0 && index < rows.whole;
}
__device__ inline bool is_here(const TableRows& rows, i64 index) {
  return index >= rows.first && index - rows.first < rows.own;
}

// Copies one element of any dtype by its bits.
__device__ inline void copy_element(void* out, const void* from, int dtype) {
  switch (dtype) {
    case kDeviceF64:
    case kDeviceI64:
    case kDeviceC64:
      return put(out, from == nullptr ? 0ull : element<unsigned long long>(from));
    case kDeviceF32:
    case kDeviceI32:
      return put(out, from == nullptr ? 0u : element<unsigned>(from));
    case kDeviceF16:
    case kDeviceBF16:
    case kDeviceI16:
      return put(out,
                 from == nullptr ? static_cast<unsigned short>(0) : element<unsigned short>(from));
    default:
      return put(out,
                 from == nullptr ? static_cast<unsigned char>(0) : element<unsigned char>(from));
  }
}

}  // namespace shw::runtime::cuda
