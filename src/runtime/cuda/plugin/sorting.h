// A stable sort of lines of entries by their keys, in a kernel's workspace.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

struct LineSort {
  int64_t lines, count;  // number of lines, and entries per line

  // The entries, and the same amount of memory to move them to.
  int64_t workspace_bytes() const { return 2 * lines * count * int64_t{sizeof(SortEntry)}; }
  // `entries`: the workspace, which begins with the unsorted entries. Returns the address of the
  // sorted entries in it.
  Result<SortEntry*> run(CudaStream& stream, SortEntry* entries) const;
};
constexpr unsigned kSort = programs(DeviceProgram::sort);

}  // namespace shw::runtime::cuda
