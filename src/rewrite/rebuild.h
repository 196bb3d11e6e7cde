// Builds the next graph from the previous one. Copies nodes, and replaces their operands by a map
// from old to new values. Most passes change nothing in most graphs, so no node is copied until
// something differs.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "support/small_vec.h"

namespace shw {

class Rebuilder {
 public:
  explicit Rebuilder(const Graph& from) : from_(from), map_(from.num_nodes(), kNoNode) {}

  // Copies a node, and its entry if it is an input, and maps its value to the copy.
  NodeId copy(NodeId old);
  // The same with other operands, which are nodes of the new graph.
  NodeId copy(NodeId old, std::span<const NodeId> operands);
  // Adds a node that replaces the old node `origin`. Errors at the new node are reported at its
  // origin.
  NodeId add(NodeId origin, OpKind op, std::string name, std::initializer_list<NodeId> operands,
             Attrs attrs, const TensorType& result, NodeMeta meta);
  // Adds an input that the replacement of the old node `origin` needs.
  NodeId add_input(NodeId origin, std::string name, const TensorType& type, InputInfo info);
  // Makes `to` the replacement of the old value in later uses.
  void map(NodeId old, NodeId to) {
    begin_copies();
    map_[old] = to;
  }
  NodeId mapped(NodeId old) const { return old.valid() ? map_[old] : kNoNode; }
  SmallVec<NodeId, 6> mapped(std::span<const NodeId> old) const;

  // Copies the outputs and returns the graph. The graph is empty if nothing differs: all nodes were
  // copied, in order and with their operands, and nothing else happened.
  Graph finish();

 private:
  // Whether the copy of this node would have the same number, as those of all earlier nodes do.
  bool stays_the_same(NodeId old, std::span<const NodeId> operands) const;
  // Called when something differs: copies the earlier nodes, which all stayed the same.
  void begin_copies();
  void copy_node(NodeId old, std::span<const NodeId> operands);

  const Graph& from_;
  Graph to_;
  bool copies_ = false;
  uint32_t num_same_ = 0;  // while nothing is copied yet
  IndexVec<NodeId, NodeId> map_;
};

// Names for new nodes in FX style: "einsum_default", "einsum_default_1", …, skipping names that
// exist.
class Namer {
 public:
  explicit Namer(const Graph& graph) : graph_(graph) {}
  std::string fresh(const std::string& base);

 private:
  const Graph& graph_;
  std::deque<std::string> given_;
  std::unordered_set<std::string_view> taken_;  // by a node of the graph, or given
  std::unordered_map<std::string, int> next_;
};

// The live nodes: inputs, and nodes that an output or another live node uses. All ops are pure.
IndexVec<NodeId, uint8_t> live_nodes(const Graph& graph);
// Removes all nodes that are not live.
Graph without_dead_code(Graph graph);

// The number of distinct nodes that use a value; all outputs together count as one more user.
class UseCounts {
 public:
  explicit UseCounts(const Graph& graph);
  uint32_t operator[](NodeId n) const { return counts_[n]; }
  bool is_output(NodeId n) const { return is_output_[n] != 0; }

 private:
  IndexVec<NodeId, uint32_t> counts_;
  IndexVec<NodeId, uint8_t> is_output_;
};

}  // namespace shw
