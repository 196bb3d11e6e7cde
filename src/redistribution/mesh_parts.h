// Parts of mesh dims in routes. If the size of one mesh dim is a multiple of another's, a part of
// the larger dim can take over the shards of the smaller one.
//
//   x=4, y=8:  S(0)R → S(1)S(0)     slice along the parts of y, four blocks of dim 1 and two of
//                                   dim 0, then one permute: 1/32 of the tensor is sent in place
//                                   of 1/16
//              S(0)S(1) → S(1)S(0)  an all-to-all among two ranks in place of eight, and a permute
//
// The search then runs on the mesh whose dims are the parts (Mesh::by_parts). Shardy calls them
// sub-axes.
#pragma once
#include <optional>

#include "redistribution/moves.h"

namespace shw {

// The mesh with the parts that may help. If the size of a dim is a multiple of other dims' sizes,
// the dim is divided into parts so that its outer parts together have one of these sizes. Returns
// the same mesh if by_parts() would have more than `max_dims` dims.
Mesh with_parts(const Mesh& mesh, int max_dims);

class MeshParts {
 public:
  explicit MeshParts(const Mesh& mesh);
  // The mesh by parts: its dims are what the rest of this class calls dims.
  const Mesh& mesh() const { return mesh_; }
  // By dim d: a bit mask of the dims that belong to the same dim of the caller's mesh, including d.
  const Siblings& siblings() const { return siblings_; }

  // Converts a layout of the caller's mesh. nullopt: it does not cut `shape` into even blocks. Only
  // with even blocks does cutting part by part give the same blocks as cutting by the whole dim.
  std::optional<Layout> by_parts(const Layout& layout, const Dims& shape) const;
  // Converts back. nullopt: the parts of one dim have different placements.
  std::optional<Layout> whole(const Layout& layout) const;
  // The axes of a move, numbered as in the caller's mesh (Mesh). Parts become the whole dim if all
  // parts of the dim are consecutive before and after the move.
  void rename(const MoveEdge& move, std::vector<uint8_t>& axes, std::vector<uint8_t>& to) const;
  uint32_t axes_mask(uint32_t dims_mask) const;

 private:
  struct Range {
    uint8_t first, count;  // dims
    uint8_t first_part;    // the caller's number of the first one, if there are several
  };
  size_t range_of(uint8_t dim) const;
  std::vector<uint8_t> renamed(const Axes& dims, bool joins) const;
  const Mesh mesh_;
  std::vector<Range> ranges_;  // by dim of the caller's mesh
  Siblings siblings_{};
};

}  // namespace shw
