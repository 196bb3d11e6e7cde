// read_placements on any text: a status, or choices that the graph has and that can be planned
// with or not.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "compiler/planner.h"
#include "graph/writer.h"
#include "placement/saved_placements.h"

namespace {

// relu(x · w), on four ranks.
std::unique_ptr<shw::Planner> small_planner() {
  using namespace shw;
  Graph graph;
  const TensorType square = row_major(Dtype::kF32, Dims{8, 8});
  const NodeId x = graph.add_input("x", square, {.role = InputRole::kInput, .name = "0"});
  const NodeId w = graph.add_input("w", square, {.role = InputRole::kParameter, .name = "w"});
  const NodeId mm = graph.add_node(OpKind::kMm, "mm", {x, w}, {}, square);
  const NodeId y = graph.add_node(OpKind::kRelu, "relu", {mm}, {}, square);
  graph.add_output({.node = y, .name = "0"});
  CompileOptions options;
  options.mesh = "a=2,b=2";
  Monitor monitor;
  auto planner = Planner::create(write_graph(graph), options, monitor);
  if (!planner.ok()) std::abort();
  return std::move(*planner);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace shw;
  static const std::unique_ptr<Planner> planner = small_planner();
  const auto choices = read_placements({reinterpret_cast<const char*>(data), size},
                                       planner->graph(), planner->mesh(), planner->strategies());
  if (!choices.ok()) return 0;
  PlacementConstraints constraints = planner->constraints();
  constraints.choices = *choices;
  for (const AllowedLabels& c : *choices)
    if (std::count(c.allowed.begin(), c.allowed.end(), true) == 0) std::abort();
  Monitor monitor;
  const auto placed = planner->place(constraints, {}, monitor);
  if (!placed.ok()) return 0;
  for (const AllowedLabels& c : *choices)
    if (!c.allowed[placed->choice[c.node.v]]) std::abort();
  return 0;
}
