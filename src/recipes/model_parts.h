// Finds in a graph the parts of a model that the recipes refer to: the batch, residual additions,
// the sequence, and the weights of matrix products. Names are not used.
//
//   batch             dim 0 of the first plain input that has dims, and of each other plain input
//                     with the same size there
//   residual stream   both ends of a skip connection: x, and the addition x + f(x), where f has a
//                     matrix product with a weight. Also in the backward pass
//   stream side       the nodes between the residual stream and the nearest products with weights,
//                     on either side: norms, casts, dropout
//   sequence          dim 1 of a residual stream [batch, sequence, width]
//   weight            a parameter of two or more dims that a matrix product or an embedding reads,
//                     directly or through casts and views
#pragma once
#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace shw::recipes {

struct ModelParts {
  int64_t batch = 0;                    // its size; 0: no plain input has dims
  std::vector<NodeId> batch_inputs;     // plain inputs with the batch as dim 0
  int64_t sequence = 0;                 // its size; 0: there is none
  std::vector<NodeId> sequence_inputs;  // of batch_inputs, those with the sequence as dim 1
  // By node.
  std::vector<uint8_t> is_stream;
  std::vector<uint8_t> is_stream_side;
  std::vector<uint8_t> is_weight;
  std::vector<uint8_t> is_product;  // a matrix product or attention
  uint32_t num_block_weights = 0;   // weights that are read between the ends of a skip connection

  static ModelParts of(const Graph& graph);
};

// The parameter that an operand is, or is computed from by operations with one operand; otherwise
// no node.
NodeId parameter_behind(const Graph& graph, NodeId operand);

}  // namespace shw::recipes
