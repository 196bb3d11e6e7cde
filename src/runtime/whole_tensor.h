// Puts a whole tensor together from the pieces of all ranks.
#pragma once
#include <cstddef>
#include <functional>

#include "plan/program.h"
#include "runtime/host_tensor.h"

namespace shw::runtime {

// `port_memory` gives the port's memory on a rank: port_bytes() of it. The result is row-major.
// Replicas that differ are an error (INTERNAL): the plan, or a kernel, is wrong.
Result<HostTensor> whole_tensor(const Program& program, const Port& port, const Mesh& mesh,
                                const std::function<const std::byte*(int64_t rank)>& port_memory);

}  // namespace shw::runtime
