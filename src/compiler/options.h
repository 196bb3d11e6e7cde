// The options of compile().
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
  // The maximum number of mesh dims when they are counted by parts (redistribution/mesh_parts.h).
  // With more, pricing all changes of layout in a graph takes too long, but pricing a single one
  // does not.
  int mesh_dims_by_parts = 3;

  // Starts the clock of the time limit, and copies the options of the solver into `solver`. Call it
  // at the start of the operation that the time limit applies to.
  void start() {
    solver.deadline = Deadline::in(time_limit_s);
    if (gap > 0) solver.relative_gap = gap;
  }
};

enum class OptionPart : uint8_t { kModel, kQuestion };
enum class OptionIdentity : uint8_t { kPlan, kNone };

// What the library needs from a row of options.inc.
struct OptionRow {
  std::string_view name;
  OptionPart part;
  OptionIdentity identity;
};
std::span<const OptionRow> option_rows();
// The values as texts, by row. Two texts are equal exactly if the values are.
std::vector<std::string> option_texts(const CompileOptions& options);

// A hash of all options that can change the plan of a graph on a mesh.
uint64_t hash_of(const CompileOptions& options);
// Whether the options of this part are equal.
bool agree(OptionPart part, const CompileOptions& a, const CompileOptions& b);

}  // namespace shw
