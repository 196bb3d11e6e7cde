// An edge of the graph in a placement, and its price. A cost that several edges share is charged to
// the first.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/prepared_model.h"
#include "support/json_writer.h"

namespace shw::answers {

struct EdgePrice {
  std::string producer, consumer;
  uint32_t operand = 0;  // of the consumer
  std::string from, to;
  double comm_us = 0, transition_us = 0;
};

EdgeCost edge_cost(const PreparedModel& model, const Placed& placed, NodeId consumer,
                   uint32_t operand);
EdgePrice edge_price(const PreparedModel& model, const Placed& placed, NodeId consumer,
                     uint32_t operand);
void write_edges(JsonWriter& json, std::string_view key, const std::vector<EdgePrice>& edges);

}  // namespace shw::answers
