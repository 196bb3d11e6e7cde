// Composes the rules for one mesh dim into strategies for the whole mesh.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "ops/op_def.h"
#include "strategy/strategies.h"

namespace shw {

// One strategy per row: layouts of the results, then of the operands.
struct StrategyTable {
  size_t num_results = 0, num_operands = 0;
  std::vector<Layout> rows;
  size_t width() const { return num_results + num_operands; }
  size_t count() const { return width() == 0 ? 0 : rows.size() / width(); }
};

// The partial placements that a value can have on each mesh dim: a bit per Placement::arg, the
// highest for a masked partial.
struct PartialKinds {
  std::array<uint8_t, kMaxMeshRank> on{};
  void add(const Layout& layout);
  bool has(int mesh_dim, Placement p) const;
  bool any(int mesh_dim) const;
  bool operator==(const PartialKinds&) const = default;
};

// Shapes of results, then operands; nullptr if the tensor is absent (its layout is ignored).
// `produced`, unless empty, states the partial placements in which each operand can be produced.
// Rules that require another one are dropped per mesh dim, before the product. (`compat` converts
// partials into each other for free. So it only drops rules that require a partial of a value that
// is never partial.)
StrategyTable compose(const RuleSet& rules, std::span<const Dims* const> shapes, const Mesh& mesh,
                      Rules mode, std::span<const PartialKinds> produced = {});

// Whether a layout can exist: enough elements (even shards under `full`), partials of one kind (sum
// and avg may mix).
bool is_legal(const Layout& layout, const Dims& shape, const Mesh& mesh, Rules mode);

}  // namespace shw
