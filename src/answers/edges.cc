#include "answers/edges.h"

namespace shw::answers {

EdgeCost edge_cost(const PreparedModel& model, const Placed& placed, NodeId consumer,
                   uint32_t operand) {
  const Choice priced = model.priced(placed);
  EdgeCost cost = priced.edge(consumer, operand);
  if (placed.shared == nullptr) return cost;
  for (const SharedVersions::Version& v : placed.shared->versions) {
    if (v.reader != GraphEdge{consumer, operand}) continue;
    const EdgeCost made = priced.version(v);
    cost.comm_us += made.comm_us;
    cost.transition_us += made.transition_us;
  }
  return cost;
}

EdgePrice edge_price(const PreparedModel& model, const Placed& placed, NodeId consumer,
                     uint32_t operand) {
  const Graph& graph = model.graph();
  const EdgeCost cost = edge_cost(model, placed, consumer, operand);
  const int mesh_rank = model.mesh().rank();
  return {graph.name(graph.operands(consumer)[operand]),
          graph.name(consumer),
          operand,
          to_string(cost.from, mesh_rank),
          to_string(cost.to, mesh_rank),
          cost.comm_us,
          cost.transition_us};
}

void write_edges(JsonWriter& j, std::string_view key, const std::vector<EdgePrice>& edges) {
  j.key(key).begin_array();
  for (const EdgePrice& e : edges) {
    j.begin_object().member("producer", e.producer).member("consumer", e.consumer);
    j.member("operand", e.operand).member("from", e.from).member("to", e.to);
    j.member("comm", e.comm_us).member("transition", e.transition_us).end_object();
  }
  j.end_array();
}

}  // namespace shw::answers
