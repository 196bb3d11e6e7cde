// Expands a call of an overload without an operation of its own into several nodes. A short text
// describes the expansion in terms of the overload's arguments:
//
//   i = mul(tensor1, tensor2); add(self, i, alpha=value)
//
// A text is a list of statements, of which the last is the result: one value, or several in
// parentheses. f(…) is the operation of that name; arguments are given in the order of
// OpDef::params, or by name. f(…).1 is an element of its tuple. [a, b] is a list of values.
// Numbers, true, false, 'text' and dtypes are attributes; so are sizes(x), size(x, dim), numel(x)
// and dtype(x). A C++ function computes everything else and binds it to a name beforehand.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "support/status.h"

namespace shw::import {

// The value of an argument or of a name: a tensor, a list of tensors, an attribute, or nothing
// (null in the call). Its special members are not inline, which keeps the code that passes it
// small.
struct ExpansionValue {
  ExpansionValue() = default;
  ExpansionValue(NodeId n) : node(n) {}
  ExpansionValue(std::vector<NodeId> n) : nodes(std::move(n)) {}
  ExpansionValue(AttrValue a) : attr(std::move(a)) {}
  ExpansionValue(const ExpansionValue& other);
  ExpansionValue(ExpansionValue&& other) noexcept;
  ExpansionValue& operator=(ExpansionValue other) noexcept;
  ~ExpansionValue();

  NodeId node = kNoNode;
  std::vector<NodeId> nodes = {};
  std::optional<AttrValue> attr = {};
  bool is_absent() const { return !node.valid() && nodes.empty() && !attr; }
};

class Expansion {
 public:
  // `name`: the call's name, which the last node gets. `results`: the recorded types of the call's
  // results.
  Expansion(Graph& graph, std::string name, NodeMeta meta,
            std::span<const std::optional<TensorType>> results)
      : graph_(graph), name_(std::move(name)), meta_(std::move(meta)), results_(results) {}

  void bind(std::string_view name, ExpansionValue value);
  void bind_int(std::string_view name, int64_t value);
  void bind_number(std::string_view name, double value);
  void bind_ints(std::string_view name, const Dims& value);
  // Sets the recorded type of an operand; its strides give the layout in memory.
  void record(std::string_view name, TensorType type) { recorded_.emplace_back(name, type); }

  // The first failure is kept. After it run() has no effect, and tensors that do not exist have an
  // empty type.
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  // Fails with UNIMPLEMENTED. Returns an empty text.
  std::string_view refuse(const char* why);
  void refuse_void(const char* why) { refuse(why); }

  // Evaluates a text; its last value is bound to "it".
  void run(std::string_view text);
  // Like run(), for the last text: its values are the results of the call, with the recorded types.
  Result<std::vector<NodeId>> finish(std::string_view text);

  // ---- for functions that prepare a text
  const ExpansionValue& at(std::string_view name) const;  // absent: no such name
  bool has(std::string_view name) const { return !at(name).is_absent(); }
  NodeId node(std::string_view name) const;  // invalid: not a tensor
  const TensorType& type(std::string_view name) const;
  TensorType recorded(std::string_view name) const;
  // A result of `producer` before it was converted to the recorded dtype; else the operand itself.
  NodeId unrounded(std::string_view name, OpKind producer) const;
  std::span<const std::optional<TensorType>> results() const { return results_; }
  Dims result_shape() const;  // shape of the first result; empty: there is none
  int64_t get_int(std::string_view name, int64_t otherwise) const;
  double get_number(std::string_view name, double otherwise) const;
  bool get_bool(std::string_view name, bool otherwise) const;
  Dims get_ints(std::string_view name) const;  // empty if there are more than kMaxRank
  std::string get_string(std::string_view name) const;

 private:
  friend class ExpansionParser;
  NodeId emit(OpKind op, std::vector<NodeId> operands, Attrs attrs, bool is_last);
  NodeId add(OpKind op, std::vector<NodeId> operands, Attrs attrs, std::string name);
  NodeId as_recorded(NodeId value, size_t place);
  NodeId fail(Status status);  // keeps the first failure; returns no node

  Graph& graph_;
  const std::string name_;
  const NodeMeta meta_;
  const std::span<const std::optional<TensorType>> results_;
  // The keys point into texts that outlive this object.
  std::vector<std::pair<std::string_view, ExpansionValue>> names_;
  std::vector<std::pair<std::string_view, TensorType>> recorded_;
  Status status_;
  int64_t added_ = 0;
};

// Converts a tensor without dims to the dtype of the operands that have dims, because it must not
// determine the result's dtype. Exception: it is of a higher kind (real above integer). `name`: of
// the call.
void convert_scalars(Graph& graph, OpKind op, std::span<NodeId> operands, const std::string& name,
                     const NodeMeta& meta);

}  // namespace shw::import
