// Parts of mesh dims in routes: where one mesh dim has a multiple of another's ranks, a part of it
// can take over what the other one cut.
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

// The mesh with the parts that may help: a dim of a multiple of the ranks of another one is counted
// as a multiple of these. The same mesh, if that would make more than `max_dims` dims of
// by_parts().
Mesh with_parts(const Mesh& mesh, int max_dims);

class MeshParts {
 public:
  explicit MeshParts(const Mesh& mesh);
  // The mesh by parts: its dims are what the rest of this class calls dims.
  const Mesh& mesh() const { return mesh_; }
  // Which dims belong to the same dim of the caller's mesh as dim d, and d, a bit each.
  const Siblings& siblings() const { return siblings_; }

  // A layout of the caller's mesh; none if it does not cut `shape` into even blocks: blocks of
  // blocks are those of the whole mesh dim only then.
  std::optional<Layout> by_parts(const Layout& layout, const Dims& shape) const;
  // None: parts of one dim do different things.
  std::optional<Layout> whole(const Layout& layout) const;
  // The axes of a move in the caller's numbers (Mesh), whole dims where all their parts follow each
  // other before and after it.
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
