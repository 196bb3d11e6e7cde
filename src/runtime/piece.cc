#include "runtime/piece.h"

#include <algorithm>

namespace shw::runtime {

Result<Piece> piece_of(const Attrs& attrs, const Mesh& mesh, int64_t rank) {
  const std::vector<int64_t>&size = attrs.get_ints(AttrKey::kSize),
        &cuts = attrs.get_ints(AttrKey::kCuts);
  if (size.size() > kMaxRank || cuts.size() % 2 != 0)
    return invalid_argument("attribute 'size' has " + std::to_string(size.size()) +
                            " dims and attribute 'cuts' has " + std::to_string(cuts.size()) +
                            " numbers: expected at most " + std::to_string(kMaxRank) +
                            " dims, and pairs of a mesh dim and a tensor dim");
  for (int64_t d : size)
    if (d < 0)
      return invalid_argument("attribute 'size' has the negative dim " + std::to_string(d));
  Piece piece{Dims(size.size(), 0), Dims(size), Dims(size)};
  // Sizes of every rank's piece, including padding; the next cut divides these.
  Dims common(size);
  for (size_t c = 0; c < cuts.size(); c += 2) {
    const int64_t m = cuts[c], d = cuts[c + 1];
    if (m < 0 || m >= mesh.rank() || d < 0 || d >= static_cast<int64_t>(size.size()))
      return invalid_argument("cut " + std::to_string(c / 2) + " is of tensor dim " +
                              std::to_string(d) + " along mesh dim " + std::to_string(m));
    int64_t& left = piece.size[static_cast<size_t>(d)];
    const int64_t n = mesh.size(static_cast<int>(m));
    const int64_t block = (common[static_cast<size_t>(d)] + n - 1) / n;
    common[static_cast<size_t>(d)] = block;
    const int64_t start = std::min(left, block * mesh.coordinate(rank, static_cast<int>(m)));
    piece.offset[static_cast<size_t>(d)] += start;
    left = std::min(block, left - start);
  }
  return piece;
}

}  // namespace shw::runtime
