// From the rules of one mesh dim to strategies on the whole mesh.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "ops/op_def.h"
#include "strategy/strategies.h"

namespace shw {

// Strategies as rows: layouts of the results, then of the operands.
struct StrategyTable {
  size_t num_results = 0, num_operands = 0;
  std::vector<Layout> rows;
  size_t width() const { return num_results + num_operands; }
  size_t count() const { return width() == 0 ? 0 : rows.size() / width(); }
};

// Which partial placements a value can lie in, mesh dim by mesh dim: a bit per Placement::arg, the
// highest for a masked partial.
struct PartialKinds {
  std::array<uint8_t, kMaxMeshRank> on{};
  void add(const Layout& layout);
  bool has(int mesh_dim, Placement p) const;
  bool any(int mesh_dim) const;
  bool operator==(const PartialKinds&) const = default;
};

// Shapes of results then operands; nullptr where the tensor is absent (its layout is not looked
// at). `produced`, if not empty, says for each operand which partials its producer can leave it in:
// rules that want another one are left out mesh dim by mesh dim, before they multiply. (Under
// `compat`, where partials turn into one another for nothing: rules that want one where there is
// none.)
StrategyTable compose(const RuleSet& rules, std::span<const Dims* const> shapes, const Mesh& mesh,
                      Rules mode, std::span<const PartialKinds> produced = {});

// A layout that may exist: enough elements (even ones, under `full`), partials of one kind (sum and
// avg may mix).
bool is_legal(const Layout& layout, const Dims& shape, const Mesh& mesh, Rules mode);

}  // namespace shw
