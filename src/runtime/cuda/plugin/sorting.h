// A stable sort of lines of entries by their keys, in a kernel's workspace.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

struct LineSort {
  int64_t lines, count;  // entries of a line

  // The entries, and as many to move them to.
  int64_t workspace_bytes() const { return 2 * lines * count * int64_t{sizeof(SortEntry)}; }
  // `entries`: the workspace, which begins with what is sorted. Gives where in it the entries are
  // in order.
  Result<SortEntry*> run(CudaStream& stream, SortEntry* entries) const;
};
constexpr unsigned kSort = programs(DeviceProgram::sort);

}  // namespace shw::runtime::cuda
