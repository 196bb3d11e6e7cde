// Host access to a rank's piece of a tensor in the memory of its device.
#pragma once
#include <cstddef>
#include <vector>

#include "plan/program.h"
#include "runtime/buffer.h"
#include "runtime/host_tensor.h"

namespace shw::runtime {

// Copies a port's piece of the whole tensor to the device. If the host cannot write the device's
// memory, the piece is first assembled in host memory.
Status write_piece(const Program& program, const Port& port, const Mesh& mesh, int64_t rank,
                   const HostTensorView& whole, Device& device, const Buffer& memory);

// Returns the buffer's bytes in host memory: the buffer itself if the host can read it, otherwise a
// copy in `staged`.
Result<const std::byte*> read_piece(Device& device, const Buffer& memory,
                                    std::vector<std::byte>& staged);

}  // namespace shw::runtime
