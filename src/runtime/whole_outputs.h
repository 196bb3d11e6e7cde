// Puts the whole outputs of an entry together from the pieces of all ranks.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "plan/program.h"
#include "runtime/host_tensor.h"

namespace shw::runtime {

// The whole tensor of a port. `port_memory` gives its memory on a rank.
Result<HostTensor> whole_tensor(const Program& program, const Port& port, const Mesh& mesh,
                                const std::function<const std::byte*(int64_t rank)>& port_memory);

// `port_memory` gives the memory of an output's port on a rank: port_bytes() of it. The results are
// row-major; empty for a port without a value. Replicas of an output that differ are an error
// (INTERNAL): the plan, or a kernel, is wrong.
Result<std::vector<HostTensor>> whole_outputs(
    const Program& program, const ProgramEntry& entry, const Mesh& mesh,
    const std::function<const std::byte*(int64_t rank, size_t output)>& port_memory);

}  // namespace shw::runtime
