// Adds nodes to the graph that is being built. The first failure is kept, and later calls do
// nothing, so that mappers need no error checks: their caller checks status() once.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "support/status.h"

namespace shw::import::onnx {

// The value of an attribute: a plain value, or sizes that may contain symbols.
struct Arg {
  std::variant<AttrValue, AttrExprs> value;
  Arg(int64_t v) : value(AttrValue(v)) {}                    // NOLINT(google-explicit-constructor)
  Arg(int v) : value(AttrValue(static_cast<int64_t>(v))) {}  // NOLINT(google-explicit-constructor)
  Arg(size_t v) : value(AttrValue(static_cast<int64_t>(v))) {}     // NOLINT
  Arg(double v) : value(AttrValue(v)) {}                           // NOLINT
  Arg(bool v) : value(AttrValue(v)) {}                             // NOLINT
  Arg(Dtype v) : value(AttrValue(v)) {}                            // NOLINT
  Arg(AttrValue v) : value(std::move(v)) {}                        // NOLINT
  Arg(const char* v) : value(AttrValue(std::string(v))) {}         // NOLINT
  Arg(std::string v) : value(AttrValue(std::move(v))) {}           // NOLINT
  Arg(std::vector<int64_t> v) : value(AttrValue(std::move(v))) {}  // NOLINT
  Arg(Exprs v) : value(AttrExprs{std::move(v), true}) {}           // NOLINT
  Arg(Expr v) : value(AttrExprs{{std::move(v)}, false}) {}         // NOLINT
};
using Args = std::vector<std::pair<AttrKey, Arg>>;

class Emitter {
 public:
  explicit Emitter(Graph& graph) : graph_(graph) {}

  const Status& status() const { return status_; }
  void fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  // Returns the value. If there is none, records the failure and returns an empty value.
  template <class T>
  T value_or_fail(Result<T> result) {
    if (result.ok()) return std::move(*result);
    fail(result.status());
    return T{};
  }
  // Sets the name and the origin of the nodes that follow.
  void begin(std::string name, NodeMeta meta) {
    name_ = std::move(name);
    meta_ = std::move(meta);
  }
  const std::string& name() const { return name_; }

  NodeId add(OpKind op, std::vector<NodeId> operands, Args args = {});
  NodeId element(NodeId tuple, int64_t index);  // get_item
  NodeId input(const TensorType& type, Exprs sizes, InputInfo info);

  // The type of a node that is not a tuple; a scalar f32 after a failure.
  const TensorType& type(NodeId node) const;
  Dtype dtype(NodeId node) const { return type(node).dtype; }
  int64_t rank(NodeId node) const { return type(node).rank(); }
  Exprs sizes(NodeId node) const;  // one per dim; numbers or expressions
  bool has_symbols(NodeId node) const;
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }

 private:
  Status set(AttrKey key, Arg arg, Attrs& attrs,
             std::vector<std::pair<AttrKey, AttrExprs>>& symbolic) const;
  Result<NodeId> try_add(OpKind op, std::vector<NodeId> operands, Args args);

  Graph& graph_;
  Status status_;
  std::string name_;
  NodeMeta meta_;
};

}  // namespace shw::import::onnx
