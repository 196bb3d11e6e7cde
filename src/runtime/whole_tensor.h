// Assembles a whole tensor from the pieces of all ranks.
#pragma once
#include <cstddef>
#include <functional>

#include "plan/program.h"
#include "runtime/host_tensor.h"

namespace shw::runtime {

// `port_memory` returns the port's memory on a rank, port_bytes() bytes. The result is row-major.
// If replicas differ, the plan or a kernel is wrong, and the call fails (INTERNAL).
Result<HostTensor> whole_tensor(const Program& program, const Port& port, const Mesh& mesh,
                                const std::function<const std::byte*(int64_t rank)>& port_memory);

}  // namespace shw::runtime
