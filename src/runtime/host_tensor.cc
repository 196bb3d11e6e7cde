#include "runtime/host_tensor.h"

#include <algorithm>
#include <array>

#include "runtime/strided.h"

namespace shw::runtime {
namespace {

Status check_piece(const Port& port, const Mesh& mesh, const TensorType& piece) {
  SHW_RETURN_IF_ERROR(check_can_shard(port, mesh));
  const Dims want = local_shape(port.global.shape, port.layout, mesh);
  if (piece.shape != want || piece.dtype != port.global.dtype)
    return invalid_argument("'" + port.name + "': a rank's piece of " + to_string(port.global) +
                            " in layout " + to_string(port.layout, mesh.rank()) + " is not " +
                            to_string(piece));
  return {};
}

// The byte offset at which a block begins in a tensor with `strides`.
int64_t offset_bytes(const Port& port, const Block& block, const Dims& strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < block.offset.size(); ++d) offset += block.offset[d] * strides[d];
  return offset * dtype_size(port.global.dtype);
}
bool is_empty(const Dims& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

}  // namespace

Status check_can_shard(const Port& port, const Mesh& mesh) {
  const auto refuse = [&](const std::string& why) {
    return failed_precondition("'" + port.name + "', " + to_string(port.global) + " in layout " +
                               to_string(port.layout, mesh.rank()) + ", " + why);
  };
  if (port.layout.has_partial())
    return refuse("is spread over the ranks as partial values: no rank has a piece of it");
  for (int m = 0; m < mesh.rank(); ++m)
    if (port.layout[m].is_shard() && port.layout[m].dim() >= port.global.rank())
      return refuse("is cut along a dim that it does not have");
  if (!is_shardable(port.global.shape, port.layout, mesh))
    return refuse("has not enough elements for the mesh " + mesh.to_string());
  return {};
}

Status shard(const Port& port, const Mesh& mesh, int64_t rank, const HostTensorView& whole,
             const TensorType& piece_type, void* piece) {
  SHW_RETURN_IF_ERROR(check_piece(port, mesh, piece_type));
  if (whole.type.shape != port.global.shape || whole.type.dtype != port.global.dtype)
    return invalid_argument("'" + port.name + "' is " + to_string(port.global) + ", not " +
                            to_string(whole.type));
  if (piece_type.numel() == 0) return {};  // the pointer may be null
  const int64_t item = dtype_size(piece_type.dtype);
  const Block own = local_block(port.global.shape, port.layout, mesh, rank);
  if (own.size != piece_type.shape) {
    StridedFill(piece_type).run(piece);
  }
  if (is_empty(own.size)) return {};
  const StridedCopy copy(own.size, item, piece_type.strides, whole.type.strides);
  copy.run(piece,
           static_cast<const std::byte*>(whole.data) + offset_bytes(port, own, whole.type.strides));
  return {};
}

Status gather(const Port& port, const Mesh& mesh, int64_t rank, const TensorType& piece_type,
              const void* piece, void* whole) {
  SHW_RETURN_IF_ERROR(check_piece(port, mesh, piece_type));
  const Block own = local_block(port.global.shape, port.layout, mesh, rank);
  if (is_empty(own.size)) return {};
  const StridedCopy copy(own.size, dtype_size(piece_type.dtype), port.global.strides,
                         piece_type.strides);
  copy.run(static_cast<std::byte*>(whole) + offset_bytes(port, own, port.global.strides), piece);
  return {};
}

bool is_first_replica(const Layout& layout, const Mesh& mesh, int64_t rank) {
  for (int m = 0; m < mesh.rank(); ++m)
    if (layout[m].is_replicate() && mesh.coordinate(rank, m) != 0) return false;
  return true;
}

}  // namespace shw::runtime
