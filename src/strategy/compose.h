// From the rules of one mesh dim to strategies on the whole mesh.
#pragma once
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

// Shapes of results then operands; nullptr where the tensor is absent (its layout is not looked
// at).
StrategyTable compose(const RuleSet& rules, std::span<const Dims* const> shapes, const Mesh& mesh,
                      Rules mode);

// A layout that may exist: enough elements (even ones, under `full`), partials of one kind (sum and
// avg may mix).
bool is_legal(const Layout& layout, const Dims& shape, const Mesh& mesh, Rules mode);

}  // namespace shw
