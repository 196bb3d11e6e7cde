// Whole tensors in host memory, and how they are cut into the ranks' pieces and put together again.
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

// Pieces of `global` tensors on the ranks of a mesh. Layouts must be even and without partial
// values (which no single rank holds): FAILED_PRECONDITION otherwise.
Status check_can_shard(const Port& port, const Mesh& mesh);

// Copies rank `rank`'s piece of `whole` to `piece`, which has type `piece_type`.
Status shard(const Port& port, const Mesh& mesh, int64_t rank, const HostTensorView& whole,
             const TensorType& piece_type, void* piece);

// Copies rank `rank`'s piece to its place in `whole`, which has the port's global type.
Status gather(const Port& port, const Mesh& mesh, int64_t rank, const TensorType& piece_type,
              const void* piece, void* whole);

// True for one rank of each set that holds the same piece: the others need not be gathered.
bool is_first_replica(const Layout& layout, const Mesh& mesh, int64_t rank);

}  // namespace shw::runtime
