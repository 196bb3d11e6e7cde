#include "answers/edges.h"

namespace shw::answers {

EdgePrice edge_price(const PreparedModel& model, std::span<const uint32_t> choice, NodeId consumer,
                     uint32_t operand) {
  const Graph& graph = model.graph();
  const Strategies& strategies = model.strategies();
  const NodeId producer = graph.operands(consumer)[operand];
  const LayoutListId produced = strategies.produced(graph, consumer, operand);
  const Layout& from =
      strategies.pool().layout(strategies.pool().list(produced)[choice[producer.v]]);
  const Layout& to = strategies.operand_layout(consumer, operand, choice[consumer.v]);
  const int mesh_rank = model.mesh().rank();
  return {graph.name(producer),
          graph.name(consumer),
          operand,
          to_string(from, mesh_rank),
          to_string(to, mesh_rank),
          model.redistribution_us(consumer, operand, from, to),
          model.transition_us(consumer, from, to)};
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
