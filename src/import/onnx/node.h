// One node of a model, as mappers use it: its inputs, its attributes, and the graph to write to.
//
// Asking for something that is missing is a failure, which is kept (emitter.h). An attribute that
// no mapper reads is a failure, too, because it could change the result.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/onnx/emitter.h"
#include "import/onnx/value.h"
#include "import/safetensors.h"

namespace shw::import::onnx {

using shardwise::onnx::AttributeProto;
using shardwise::onnx::NodeProto;

// A tensor or a number as an operand.
struct Operand {
  NodeId node = {};
  std::optional<Arg> number = {};
  Operand(NodeId n) : node(n) {}             // NOLINT(google-explicit-constructor)
  Operand(Expr v) : number(std::move(v)) {}  // NOLINT(google-explicit-constructor)
  Operand(double v) : number(v) {}           // NOLINT(google-explicit-constructor)
  Operand(int64_t v) : number(v) {}          // NOLINT(google-explicit-constructor)
  Operand(int v) : number(int64_t{v}) {}     // NOLINT(google-explicit-constructor)
};

// Data that all nodes of a model share.
struct Scope {
  Emitter& emit;
  std::unordered_map<std::string, Value> values = {};
  TensorFile parameters = {};  // tensors that are too large for the graph
  int64_t opset = 0;
  std::set<std::string> names = {};  // of constants and parameters of the graph
  size_t constant_bytes = 0;         // of all constants of the graph
};

// The value as a node of the graph; adds it if it is not there yet.
NodeId node_of(Scope& scope, Value& value);

class Node {
 public:
  Node(Scope& scope, const NodeProto& proto) : scope_(scope), proto_(proto) {}

  int64_t opset() const { return scope_.opset; }
  const NodeProto& proto() const { return proto_; }
  Emitter& emit() { return scope_.emit; }
  bool ok() const { return scope_.emit.status().ok(); }
  void fail(Status status) { scope_.emit.fail(std::move(status)); }
  // UNIMPLEMENTED, if `holds`.
  void refuse_if(bool holds, const char* what) {
    if (holds) fail(unimplemented(what));
  }

  // ---- inputs
  size_t num_inputs() const { return static_cast<size_t>(proto_.input_size()); }
  bool has(size_t i) const {
    return i < num_inputs() && !proto_.input(static_cast<int>(i)).empty();
  }
  Value* value(size_t i);     // null after a failure, or if absent
  Value* required(size_t i);  // like value(); fails if absent
  NodeId in(size_t i = 0);    // fails if absent
  NodeId in_or_none(size_t i) { return has(i) ? in(i) : kNoNode; }
  const Known* known(size_t i);  // null: its elements are not known at import
  std::vector<int64_t> ints(size_t i, const char* what);  // these must be known
  Exprs sizes(size_t i, const char* what);                // may contain symbols
  double number(size_t i, const char* what);              // one element
  int64_t integer(size_t i, const char* what);            // one element, whole
  // If the input has a single known element, and using it as a number does not change the shape of
  // a result with `other`: that number. Otherwise the input's node.
  Operand operand(size_t i, size_t other);

  // ---- attributes
  bool has_attr(std::string_view name) const { return find(name) != nullptr; }
  int64_t attr(std::string_view name, int64_t otherwise);
  double attr(std::string_view name, double otherwise);
  std::string attr(std::string_view name, const char* otherwise);
  std::vector<int64_t> attr_ints(std::string_view name, std::vector<int64_t> otherwise = {});
  const TensorProto* attr_tensor(std::string_view name);
  const AttributeProto* attr_any(std::string_view name);  // of any type
  // The attribute has no effect here.
  void skip(std::string_view name) { read_.insert(std::string(name)); }
  void require(std::string_view name);
  // Fails if an attribute has not been read.
  void check_all_read();

  // ---- axes
  // For a tensor of this rank; axes are counted from the front. Returns 0 after a failure.
  size_t axis(int64_t axis, int64_t rank);
  std::vector<int64_t> axes(const std::vector<int64_t>& given, int64_t rank);
  // The axes from attribute `axes`, or, from opset `since` on, from input 1; empty if neither is
  // given.
  std::vector<int64_t> axes_given(int64_t since, int64_t rank);

  // ---- the graph
  const TensorType& type(NodeId n) { return emit().type(n); }
  int64_t rank(NodeId n) { return emit().rank(n); }
  NodeId add(OpKind op, std::vector<NodeId> operands, Args args = {}) {
    return emit().add(op, std::move(operands), std::move(args));
  }
  NodeId binary(OpKind op, Operand a, Operand b);
  NodeId scalar(double value, Dtype dtype) {
    return add(OpKind::kScalarTensor, {}, {{AttrKey::kFillValue, value}, {AttrKey::kDtype, dtype}});
  }
  NodeId where(NodeId condition, NodeId a, NodeId b) {
    return add(OpKind::kWhere, {condition, a, b});
  }
  NodeId constant(const std::vector<int64_t>& values, const Dims& shape);  // of i64
  NodeId cast(NodeId x, Dtype dtype);
  NodeId view(NodeId x, Exprs size) {
    return add(OpKind::kView, {x}, {{AttrKey::kSize, std::move(size)}});
  }
  // Reshapes [C] to [C,1,…,1], so that it is broadcast along dim `axis` of a tensor of `rank` dims.
  NodeId along(NodeId x, size_t axis, int64_t rank);

  // ---- outputs
  bool wants(size_t i) const {
    return i < static_cast<size_t>(proto_.output_size()) &&
           !proto_.output(static_cast<int>(i)).empty();
  }
  void out(NodeId node, size_t i = 0);
  void out(Value value, size_t i = 0);

 private:
  const AttributeProto* find(std::string_view name) const;
  const AttributeProto* typed(std::string_view name, AttributeProto::Type type);

  Scope& scope_;
  const NodeProto& proto_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace shw::import::onnx
