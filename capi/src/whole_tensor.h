// Converts whole tensors of a plan's ports to the ranks' pieces, and back.
#pragma once
#include <span>

#include "buffer.h"
#include "plan.h"

namespace shw::capi {

// One rank's piece of a port, in memory of `device`; null: the CPU's.
Result<std::unique_ptr<shw_buffer>> shard(const PlanRef& plan, size_t port, int32_t rank,
                                          const shw_tensor& whole, const DeviceRef& device);
Status shard_into(const PlanRef& plan, size_t port, int32_t rank, const shw_tensor& whole,
                  shw_buffer& piece);

// `pieces`: by rank, for all ranks. `whole` must have room for the port's global type.
Status gather_into(const PlanRef& plan, size_t port, std::span<shw_buffer* const> pieces,
                   void* whole);
Result<std::unique_ptr<shw_buffer>> gather(const PlanRef& plan, size_t port,
                                           std::span<shw_buffer* const> pieces);

}  // namespace shw::capi
