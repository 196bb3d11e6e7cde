// A rank's piece of a tensor in its device's memory, as the host writes and reads it.
#pragma once
#include <cstddef>
#include <vector>

#include "plan/program.h"
#include "runtime/buffer.h"
#include "runtime/host_tensor.h"

namespace shw::runtime {

// Cuts a port's piece out of the whole tensor. Where the host cannot write the device's memory, it
// is cut in host memory and copied.
Status write_piece(const Program& program, const Port& port, const Mesh& mesh, int64_t rank,
                   const HostTensorView& whole, Device& device, const Buffer& memory);

// The buffer's bytes where the host can read them: its own memory, or a copy in `staged`.
Result<const std::byte*> read_piece(Device& device, const Buffer& memory,
                                    std::vector<std::byte>& staged);

}  // namespace shw::runtime
