// What a plan is asked for: the options of compile().
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/constraints.h"
#include "placement/overlap.h"
#include "recompute/policy.h"
#include "rewrite/expand_symbols.h"
#include "solver/problem.h"
#include "strategy/strategies.h"

namespace shw {

inline constexpr std::string_view kFreeLayout =
    "free";  // of an input or output: chosen by the planner

using Names = std::vector<std::string>;
using NamedLayouts = std::vector<std::pair<std::string, std::string>>;  // pattern, layout
using Buckets = std::vector<BucketSizes>;

struct CompileOptions {
#define SHW_OPTION(type, name, initial, ...) type name = initial;
#include "compiler/options.inc"
#undef SHW_OPTION
  solver::SolveOptions solver{};
  // Mesh dims counted by parts, at most (redistribution/mesh_parts.h): more take prices longer than
  // a graph is worth, but not a single change of layout.
  int mesh_dims_by_parts = 3;

  // Call it at the start of the operation that the time limit applies to. The solver takes the
  // options that are meant for it.
  void start() {
    solver.deadline = Deadline::in(time_limit_s);
    if (gap > 0) solver.relative_gap = gap;
  }
};

enum class OptionPart : uint8_t { kModel, kQuestion };
enum class OptionIdentity : uint8_t { kPlan, kNone };

// What the library needs of a row of options.inc.
struct OptionRow {
  std::string_view name;
  OptionPart part;
  OptionIdentity identity;
};
std::span<const OptionRow> option_rows();
// The values as texts, row by row: equal exactly where the values are.
std::vector<std::string> option_texts(const CompileOptions& options);

// Of all that can change the plan of a graph on a mesh.
uint64_t hash_of(const CompileOptions& options);
// Whether the options of this part are equal.
bool agree(OptionPart part, const CompileOptions& a, const CompileOptions& b);

}  // namespace shw
