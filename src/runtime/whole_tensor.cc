#include "runtime/whole_tensor.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/strided.h"

namespace shw::runtime {
namespace {

// Cuts a replica's piece out of the whole and compares.
Status check_replica(const Port& port, const Mesh& mesh, int64_t rank, const HostTensor& whole,
                     const TensorType& piece_type, const std::byte* piece) {
  const Dims own = local_block(port.global.shape, port.layout, mesh, rank).size;
  if (std::find(own.begin(), own.end(), 0) != own.end()) return {};
  const TensorType dense = row_major(piece_type.dtype, piece_type.shape);
  std::vector<std::byte> expected(static_cast<size_t>(dense.bytes())), actual(expected.size());
  SHW_RETURN_IF_ERROR(
      shard(port, mesh, rank, {port.global, whole.data.data()}, dense, expected.data()));
  // Only the elements without padding are compared: padding is zero in one tensor and undefined in
  // the other.
  StridedCopy(own, dtype_size(dense.dtype), dense.strides, piece_type.strides)
      .run(actual.data(), piece);
  if (std::memcmp(expected.data(), actual.data(), actual.size()) == 0) return {};
  return internal_error("the replica of '" + port.name + "' on rank " + std::to_string(rank) +
                        " differs from the replicas on other ranks");
}

}  // namespace

Result<HostTensor> whole_tensor(const Program& program, const Port& port, const Mesh& mesh,
                                const std::function<const std::byte*(int64_t rank)>& port_memory) {
  const ProgramValue& value = program.values[port.value];
  HostTensor whole{port.global, {}};
  whole.data.resize(static_cast<size_t>(port.global.bytes()));
  for (int64_t r = 0; r < mesh.num_ranks(); ++r)
    if (is_first_replica(port.layout, mesh, r))
      SHW_RETURN_IF_ERROR(gather(port, mesh, r, value.type, port_memory(r) + value.offset_bytes,
                                 whole.data.data()));
  for (int64_t r = 0; r < mesh.num_ranks(); ++r)
    if (!is_first_replica(port.layout, mesh, r))
      SHW_RETURN_IF_ERROR(
          check_replica(port, mesh, r, whole, value.type, port_memory(r) + value.offset_bytes));
  return whole;
}

}  // namespace shw::runtime
