// Expands a call of an overload that has no op of its own into nodes that have one. What it becomes
// is a short text in the overload's arguments:
//
//   i = mul(tensor1, tensor2); add(self, i, alpha=value)
//
// A text is a list of statements, of which the last is the result: one value, or several in
// parentheses. f(…) is the op of that name; arguments stand in the order of OpDef::params, or are
// named. f(…).1 is a place in its tuple. [a, b] is a list of values. Numbers, true, false, 'text'
// and dtypes are attributes; so are sizes(x), size(x, dim), numel(x) and dtype(x). What a text
// cannot compute, a function in C++ binds to a name before.
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

// An argument, or what a name stands for: a tensor, a list of them, an attribute, or nothing (null
// in the call). Its special members are out of line, which keeps the code that passes it small.
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
  // `name`: of the call; the last node gets it. `results`: what the call returns, as recorded.
  Expansion(Graph& graph, std::string name, NodeMeta meta,
            std::span<const std::optional<TensorType>> results)
      : graph_(graph), name_(std::move(name)), meta_(std::move(meta)), results_(results) {}

  void bind(std::string_view name, ExpansionValue value);
  void bind_int(std::string_view name, int64_t value);
  void bind_number(std::string_view name, double value);
  void bind_ints(std::string_view name, const Dims& value);
  // Types as recorded for operands, whose strides say how they lie in memory.
  void record(std::string_view name, TensorType type) { recorded_.emplace_back(name, type); }

  // The first failure stays; after it, nothing that is run has an effect, and tensors that do not
  // exist have an empty type.
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  // UNIMPLEMENTED. Returns an empty text.
  std::string_view refuse(const char* why);
  void refuse_void(const char* why) { refuse(why); }

  // Evaluates a text, whose last value is bound to "it".
  void run(std::string_view text);
  // The same for the last text: its values are those of the call, of the types recorded.
  Result<std::vector<NodeId>> finish(std::string_view text);

  // ---- for functions that prepare a text
  const ExpansionValue& at(std::string_view name) const;  // absent: no such name
  bool has(std::string_view name) const { return !at(name).is_absent(); }
  NodeId node(std::string_view name) const;  // invalid: it is no tensor
  const TensorType& type(std::string_view name) const;
  TensorType recorded(std::string_view name) const;
  std::span<const std::optional<TensorType>> results() const { return results_; }
  Dims result_shape() const;  // of the first; empty: there is none
  int64_t get_int(std::string_view name, int64_t otherwise) const;
  double get_number(std::string_view name, double otherwise) const;
  bool get_bool(std::string_view name, bool otherwise) const;
  Dims get_ints(std::string_view name) const;  // none where there are more than kMaxRank
  std::string get_string(std::string_view name) const;

 private:
  friend class ExpansionParser;
  NodeId emit(OpKind op, std::vector<NodeId> operands, Attrs attrs, bool is_last);
  NodeId add(OpKind op, std::vector<NodeId> operands, Attrs attrs, std::string name);
  NodeId as_recorded(NodeId value, size_t place);
  NodeId fail(Status status);  // keeps the first; no node

  Graph& graph_;
  const std::string name_;
  const NodeMeta meta_;
  const std::span<const std::optional<TensorType>> results_;
  std::vector<std::pair<std::string_view, ExpansionValue>> names_;  // parts of texts that stay
  std::vector<std::pair<std::string_view, TensorType>> recorded_;
  Status status_;
  int64_t added_ = 0;
};

// A tensor without dims does not decide the dtype of a result against one that has some, unless it
// is of a higher kind (real above integer): it is converted first. `name`: of the call.
void convert_scalars(Graph& graph, OpKind op, std::span<NodeId> operands, const std::string& name,
                     const NodeMeta& meta);

}  // namespace shw::import
