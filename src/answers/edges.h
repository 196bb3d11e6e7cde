// An edge of the graph under a choice of strategies, and its price.
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

EdgePrice edge_price(const PreparedModel& model, std::span<const uint32_t> choice, NodeId consumer,
                     uint32_t operand);
void write_edges(JsonWriter& json, std::string_view key, const std::vector<EdgePrice>& edges);

}  // namespace shw::answers
