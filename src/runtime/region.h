// Bodies of manual regions (op local_map): work that the embedding program does between steps of a
// plan, on this rank's pieces.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/hal.h"

namespace shw::runtime {

struct RegionTensor {
  const TensorType* type;  // null: absent, or nobody wants it
  void* data;              // element 0
};

struct Region {
  std::string name;
  // Called on a stream's thread, one call at a time for each executor; reads inputs, writes
  // outputs. Must not throw. An error ends the run, and is its cause.
  std::function<Status(int64_t rank, std::span<const RegionTensor> inputs,
                       std::span<const RegionTensor> outputs)>
      body;
};

inline constexpr std::string_view kRegionKernel = "local_map";
// Of a step that runs the region which attribute `region` names. `regions` outlive it.
// UNIMPLEMENTED: there is none of that name.
Result<std::unique_ptr<PreparedKernel>> prepare_region(const KernelArgs& args,
                                                       std::span<const Region> regions);

}  // namespace shw::runtime
