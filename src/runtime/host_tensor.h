// Whole tensors in host memory, how they are split into the pieces of the ranks, and how they are
// assembled again.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "plan/program.h"
#include "sharding/layout.h"

namespace shw::runtime {

struct HostTensor {
  TensorType type;  // row-major
  std::vector<std::byte> data;
};

struct HostTensorView {
  TensorType type;  // any strides
  const void* data = nullptr;
};

// FAILED_PRECONDITION unless the port's layout is even and has no partial values. No single rank
// holds the value of a partial tensor.
Status check_can_shard(const Port& port, const Mesh& mesh);

// Copies rank `rank`'s piece of `whole` to `piece`, which has type `piece_type`.
Status shard(const Port& port, const Mesh& mesh, int64_t rank, const HostTensorView& whole,
             const TensorType& piece_type, void* piece);

// Copies rank `rank`'s piece to its place in `whole`, which has the port's global type.
Status gather(const Port& port, const Mesh& mesh, int64_t rank, const TensorType& piece_type,
              const void* piece, void* whole);

// True for exactly one rank of each set of ranks that hold the same piece; the pieces of the others
// need not be gathered.
bool is_first_replica(const Layout& layout, const Mesh& mesh, int64_t rank);

}  // namespace shw::runtime
