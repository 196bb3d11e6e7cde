// Plans a model by well-known recipes, and by layouts from another planner, and compares these
// plans with the optimum, using the same passes and the same simulator.
//
// The optimum is the placement with the shortest simulated step of several within the memory limit
// (compiler/fastest.h). All rows are among these, so none is faster. With Overlap::kNone, and with
// prices that discount hidden communication, the optimum is the cheapest of all placements instead.
// Layouts of inputs and results, pins, and the parameter budget constrain neither the optimum nor
// the recipes. If the options state any of these (by default, the budget requires every parameter
// at its smallest share), the plan for these options is a separate row.
#pragma once
#include <string>
#include <vector>

#include "compiler/options.h"
#include "compiler/prepared_model.h"

namespace shw::compare {

struct NamedPlan {
  std::string name;
  std::string json;  // foreign_plan.h
};

struct CompareOptions {
  std::vector<std::string> recipes;  // by name; empty: all
  std::vector<NamedPlan> plans;
};

enum class RowKind : uint8_t { kOptimum = 0, kOptions = 1, kRecipe = 2, kPlan = 3 };
std::string_view row_kind_name(RowKind kind);  // "optimum", "options", "recipe", "plan"

// Figures of a plan, summed over its entries, weighted by how often each is called.
struct Figures {
  double step_us = 0;      // simulated
  double compute_us = 0;   // busy time of the compute stream
  double exposed_us = 0;   // communication that compute waits for
  double price_us = 0;     // the objective, one operation after another
  int64_t peak_bytes = 0;  // of one rank
  int64_t wire_bytes = 0;  // that one rank sends
  uint64_t num_collectives = 0;
};

struct Row {
  RowKind kind = RowKind::kRecipe;
  std::string name, title;
  std::string why_not;  // why there is no plan; empty: there is one
  Figures figures;
  bool proven = false;
  uint32_t num_free = 0;     // nodes without a strategy that follows the recipe
  uint32_t num_unknown = 0;  // nodes of a foreign plan that the graph does not have
  std::string difference;    // from the optimum, as text
  bool has_plan() const { return why_not.empty(); }
};

struct Table {
  std::string mesh, hardware;
  std::vector<Row> rows;  // the optimum first
  const Row& optimum() const { return rows.front(); }
  // Whether the row's simulated step is shorter than the optimum's. Prices do not know what a
  // schedule hides, so the cheapest placement need not be the fastest. If the optimum is the
  // fastest, no row is ahead.
  bool is_ahead(const Row& row) const;
};

// INVALID_ARGUMENT: an unknown recipe, a malformed plan, or the model does not serve the options.
Result<Table> compare(const PreparedModel& model, const CompileOptions& options,
                      const CompareOptions& wanted, Monitor& monitor);

std::string to_text(const Table& table);
std::string to_json(const Table& table);
std::string to_svg(const Table& table);

}  // namespace shw::compare
