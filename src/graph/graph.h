// The tensor graph: flat tables, SSA, functional, global shapes, one device, no collectives.
//
// A node defines one value: a tensor, or a tuple of tensors of which some may be absent (a gradient
// that is not wanted); get_item takes one tensor out of a tuple. Nodes are in topological order.
// Operands are in the order of the op's tensor parameters (OpDef::params); an optional operand that
// is not given, or is a scalar (then it is an attribute of the parameter's name), is an invalid
// NodeId.
//
// A graph is built once and then read: a rewrite reads one graph and builds the next (rewrite/).
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/op_kind.h"
#include "support/index.h"
#include "support/small_vec.h"
#include "support/status.h"
#include "tensor/attrs.h"
#include "tensor/symbols.h"
#include "tensor/tensor_type.h"

namespace shw {

using NodeId = Id<struct NodeTag>;
inline constexpr NodeId kNoNode{};

enum class Phase : uint8_t { kForward = 0, kBackward = 1 };

enum class InputRole : uint8_t {
  kParameter = 1,
  kBuffer = 2,
  kInput = 3,
  kTangent = 4,
  kSeed = 5,
  kOptimizerState = 6,
  kConstant = 7  // a small tensor that the graph carries with it
};
// What training changes and keeps: parameters, and the state of their optimizer.
constexpr bool is_trained(InputRole role) {
  return role == InputRole::kParameter || role == InputRole::kOptimizerState;
}
// Who holds an input between runs: the caller, or the executor for as long as it lives.
enum class InputStorage : uint8_t { kPort = 0, kState = 1 };
enum class OutputRole : uint8_t { kResult = 1, kGradient = 2, kUpdate = 3 };
std::string_view input_role_prefix(
    InputRole role);  // "param", "buffer", "input", "tangent", "seed", "optimizer", "constant"

enum class Recompute : uint8_t {
  kUnset = 0,
  kMustSave = 1,
  kPreferSave = 2,
  kPreferRecompute = 3,
  kMustRecompute = 4
};

// The origin of a node, as far as planning needs it. Rewrites preserve it.
struct NodeMeta {
  Phase phase = Phase::kForward;
  Recompute recompute = Recompute::kUnset;
  int32_t ac_graph_id = -1;      // activation-checkpoint region; -1: none
  int64_t sequence_nr = -1;      // autograd's; joins a backward node to its forward node; -1: none
  std::string module_path = {};  // "layers.0.attention.wq"; empty: none
  std::string source = {};       // file, line or hash that the framework gave; empty: none
  bool operator==(const NodeMeta&) const = default;
};

// Describes a node with op input.
struct InputInfo {
  NodeId node = {};
  InputRole role = InputRole::kInput;
  std::string name = {};  // parameter and buffer: the qualified name; input: its name, or its
                          // position "0", "1", …
  int32_t position = -1;  // input: index among the caller's inputs; tangent: index into outputs()
                          // of the output that it belongs to
  InputStorage storage = InputStorage::kPort;
  // Constant: its elements, row-major. Shared with the graphs that rewrites derive from this one.
  std::shared_ptr<const std::vector<uint8_t>> data = {};
  Exprs sizes = {};  // input of a bucket: the expressions of its sizes; empty: constants
  bool operator==(const InputInfo& o) const;
};

struct OutputInfo {
  NodeId node = {};  // invalid: no value is returned here
  OutputRole role = OutputRole::kResult;
  std::string name = {};  // result: its name, or its position "0", "1", …; else empty
  int32_t of_input = -1;  // gradient, update: index into inputs()
  bool in_place = false;  // update: it overwrites the input's memory
  Exprs sizes = {};       // as InputInfo::sizes
  bool operator==(const OutputInfo&) const = default;
};

// One way to call the graph: it runs the nodes that its outputs need (graph/entries.h).
struct EntryInfo {
  std::string name = "step";
  double weight = 1;              // how often it is called, compared with the others; > 0
  std::vector<uint32_t> inputs;   // indices into Graph::inputs(), ascending; no constants, no state
  std::vector<uint32_t> outputs;  // indices into Graph::outputs(), ascending
  std::vector<uint32_t> after;    // entries that ran earlier in the same session: their results are
                                  // reused
  // If the entry is a bucket (rewrite/expand_symbols.h): the entry that it belongs to, and the size
  // of each symbol. -1: the entry does not depend on that symbol.
  std::string bucket_of = {};
  std::vector<int64_t> bucket = {};
  bool operator==(const EntryInfo&) const = default;
};

// Sizes that are known only at run time. Types and attributes in the graph hold numbers: the values
// at the hints of the symbols. The expressions are kept here.
struct GraphSymbols {
  std::vector<Symbol> table;
  std::map<std::pair<uint32_t, uint32_t>, Exprs> shapes;         // by node and result: one per dim
  std::map<std::pair<uint32_t, AttrKey>, AttrExprs> attributes;  // by node and key
  bool has_exprs() const { return !shapes.empty() || !attributes.empty(); }
  bool operator==(const GraphSymbols&) const = default;
};

// What a node has besides its operands. Never changed, and shared with the graphs that rewrites
// derive from this one.
struct NodeDetails {
  std::string name;
  Attrs attrs;
  NodeMeta meta;
  SmallVec<std::optional<TensorType>, 1> results;
};

struct Node {
  OpKind op = OpKind::kInput;
  bool is_tuple = false;
  uint32_t first_operand = 0, num_operands = 0;
  uint32_t first_result = 0, num_results = 0;  // results are numbered through all nodes
};

class Graph {
 public:
  // Appends a node; operands must already be there (or be kNoNode). Names need not be unique; empty
  // becomes "%index".
  NodeId add_node(OpKind op, std::string name, std::span<const NodeId> operands, Attrs attrs,
                  std::span<const std::optional<TensorType>> results, bool is_tuple, NodeMeta meta);
  NodeId add_node(OpKind op, std::string name, std::initializer_list<NodeId> operands, Attrs attrs,
                  const TensorType& result, NodeMeta meta = {});
  // Appends a copy of a node of another graph, with these operands. Not for inputs.
  NodeId add_copy(const Graph& from, NodeId of, std::span<const NodeId> operands);
  // Appends an input node and its entry in inputs().
  NodeId add_input(std::string node_name, const TensorType& type, InputInfo info,
                   NodeMeta meta = {});
  void add_output(OutputInfo info) { outputs_.push_back(std::move(info)); }

  void set_entries(std::vector<EntryInfo> entries) { entries_ = std::move(entries); }
  // Removes the outputs that no declared entry lists.
  void remove_unlisted_outputs();

  const GraphSymbols& symbols() const { return symbols_; }
  GraphSymbols& symbols() { return symbols_; }

  uint32_t num_nodes() const { return static_cast<uint32_t>(nodes_.size()); }
  uint32_t num_results() const { return num_results_; }  // of all nodes
  const Node& node(NodeId n) const { return nodes_[n]; }
  OpKind op(NodeId n) const { return nodes_[n].op; }
  const std::string& name(NodeId n) const { return details_[n]->name; }
  const Attrs& attrs(NodeId n) const { return details_[n]->attrs; }
  const NodeMeta& meta(NodeId n) const { return details_[n]->meta; }
  void set_recompute(NodeId n, Recompute recompute);
  std::span<const NodeId> operands(NodeId n) const {
    return {operands_.data() + nodes_[n].first_operand, nodes_[n].num_operands};
  }
  std::span<const std::optional<TensorType>> results(NodeId n) const {
    return details_[n]->results;
  }
  bool is_tuple(NodeId n) const { return nodes_[n].is_tuple; }
  // The type of a node that is not a tuple.
  const TensorType& type(NodeId n) const { return *details_[n]->results[0]; }

  std::span<const InputInfo> inputs() const { return inputs_; }
  std::span<const OutputInfo> outputs() const { return outputs_; }
  // At least one: a graph without declared entries has "step", with all inputs and all outputs.
  std::vector<EntryInfo> entries() const;
  // The declared entries; may be empty.
  const std::vector<EntryInfo>& given_entries() const { return entries_; }
  // Index into inputs() of an input node; -1 for other nodes.
  int32_t input_index(NodeId n) const;
  std::string full_name(const InputInfo& input) const;    // "param.<fqn>", "input.0", "tangent.0"
  std::string full_name(const OutputInfo& output) const;  // "output", "output.1", "grad.<fqn>"

  // The node of the caller's graph, before all rewrites, that this node comes from, and its name:
  // errors and programs refer to it. In a graph that no rewrite built: the node itself.
  NodeId origin(NodeId n) const;
  const std::string& origin_name(NodeId n) const;
  // Call it when a rewrite builds this graph from `source`. Every node then needs set_origin().
  void derive_from(const Graph& source);
  void set_origin(NodeId n, NodeId origin);

  void reserve(size_t num_nodes);

 private:
  IndexVec<NodeId, Node> nodes_;
  using Details = IndexVec<NodeId, std::shared_ptr<const NodeDetails>>;
  NodeId add_node(OpKind op, std::span<const NodeId> operands, bool is_tuple,
                  std::shared_ptr<const NodeDetails> details);

  Details details_;
  std::vector<NodeId> operands_;
  uint32_t num_results_ = 0;
  std::vector<InputInfo> inputs_;
  std::vector<OutputInfo> outputs_;
  std::vector<EntryInfo> entries_;
  GraphSymbols symbols_;
  std::shared_ptr<const Details> of_origins_;  // null: no rewrite built it
  std::vector<NodeId> origins_;
};

// A failure at a node: the status names the node of the caller's graph.
inline Status at_origin(Status status, const Graph& graph, NodeId n) {
  return std::move(status.at_node(graph.origin(n).v, graph.origin_name(n)));
}

// For each node the nodes that use it, in graph order; a node that uses a value twice is listed
// twice. Outputs are not users.
class UserTable {
 public:
  explicit UserTable(const Graph& graph);
  std::span<const NodeId> users(NodeId n) const {
    return {users_.data() + first_[n.v], first_[n.v + 1] - first_[n.v]};
  }

 private:
  std::vector<uint32_t> first_;
  std::vector<NodeId> users_;
};

// INVALID_ARGUMENT: symbols or their expressions contradict each other, or do not give the numbers
// in the graph at the hints.
Status check_symbols(const Graph& graph);

uint64_t fingerprint(const Graph& graph);  // covers everything that can change a plan

}  // namespace shw
