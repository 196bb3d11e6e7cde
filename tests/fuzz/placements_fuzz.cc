// read_placements on any text must return a status or choices that the graph has. Planning with
// these choices may succeed or fail.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "compiler/place.h"
#include "graph/writer.h"
#include "placement/saved_placements.h"

namespace {

// relu(x · w) on four ranks.
std::unique_ptr<const shw::PreparedModel> small_model() {
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
  auto model = PreparedModel::create(write_graph(graph), options, monitor);
  if (!model.ok()) std::abort();
  return std::move(*model);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace shw;
  static const std::unique_ptr<const PreparedModel> model = small_model();
  const auto choices = read_placements({reinterpret_cast<const char*>(data), size}, model->graph(),
                                       model->mesh(), model->strategies());
  if (!choices.ok()) return 0;
  PlacementConstraints constraints = *constraints_of(*model, model->options());
  constraints.choices = *choices;
  for (const AllowedLabels& c : *choices)
    if (std::count(c.allowed.begin(), c.allowed.end(), true) == 0) std::abort();
  Monitor monitor;
  const auto question = ConstrainedModel::create(*model, constraints, monitor);
  if (!question.ok()) return 0;
  const auto placed = place(*question, {}, monitor);
  if (!placed.ok()) return 0;
  for (const AllowedLabels& c : *choices)
    if (!c.allowed[placed->choice[c.node.v]]) std::abort();
  return 0;
}
