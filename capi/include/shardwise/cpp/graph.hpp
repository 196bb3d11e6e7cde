// Builds a graph by calls: values, operators, named operations.
//
//   auto graph = shardwise::Graph::create(context);
//   auto x = graph.input("x", SHW_DTYPE_F32, {32, 16});
//   auto w = graph.state_parameter("w", SHW_DTYPE_F32, {16, 8});
//   graph.result("y", relu(matmul(x, w)) * 0.5);
//   auto bytes = graph.finish();
//
// Where calls throw, a line that is wrong throws. Where they return results, calls that build
// return values all the same: the graph keeps the first error, adds nothing more, and finish()
// returns it; error() tells it at any time.
#ifndef SHARDWISE_CPP_GRAPH_HPP_
#define SHARDWISE_CPP_GRAPH_HPP_

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shardwise/cpp/context.hpp"

namespace shardwise {
inline namespace SHARDWISE_MODE {

// An argument of an operation that is not a tensor. What it points to is lent: for one statement,
// where it is made in braces.
struct Attr : shw_attr {
  Attr(const char* called, int value) noexcept : Attr(called, static_cast<std::int64_t>(value)) {}
  Attr(const char* called, std::int64_t value) noexcept : shw_attr(SHW_ATTR_INT(called, value)) {}
  Attr(const char* called, double value) noexcept : shw_attr(SHW_ATTR_FLOAT(called, value)) {}
  Attr(const char* called, bool value) noexcept : shw_attr(SHW_ATTR_BOOL(called, value ? 1 : 0)) {}
  Attr(const char* called, const char* value) noexcept : shw_attr(SHW_ATTR_STRING(called, value)) {}
  Attr(const char* called, Span<const std::int64_t> values) noexcept
      : shw_attr(SHW_ATTR_INTS(called, values.data(), values.size())) {}

  static Attr dtype(const char* called, shw_dtype value) noexcept {
    return Attr(shw_attr(SHW_ATTR_DTYPE(called, value)));
  }
  // Sizes of symbols: "cache", "[1,2*cache]".
  static Attr expr(const char* called, const char* value) noexcept {
    return Attr(shw_attr(SHW_ATTR_EXPR(called, value)));
  }

 private:
  explicit Attr(shw_attr attr) noexcept : shw_attr(attr) {}
};

struct NodeOptions : shw_node_options {
  NodeOptions() noexcept : shw_node_options(detail::defaults(shw_node_options_init)) {}
};
struct BuilderInput : shw_builder_input {
  BuilderInput() noexcept : shw_builder_input(detail::defaults(shw_builder_input_init)) {}
};
struct BuilderOutput : shw_builder_output {
  BuilderOutput() noexcept : shw_builder_output(detail::defaults(shw_builder_output_init)) {}
};
struct BuilderEntry : shw_builder_entry {
  BuilderEntry() noexcept : shw_builder_entry(detail::defaults(shw_builder_entry_init)) {}
};

namespace detail {

struct Builder : Handle<shw_builder, shw_builder_destroy> {
  using Handle::Handle;
};

// What values point to: it stays where it is when its graph is moved.
struct GraphState {
  Builder builder;
  NodeOptions options;
  Status error;
};

}  // namespace detail

// A node of a graph under construction; valid as long as the graph.
class Value {
 public:
  Value() = default;
  Value(detail::GraphState* graph, std::size_t node) noexcept : graph_(graph), node_(node) {}
  std::size_t node() const noexcept { return node_; }
  detail::GraphState* graph() const noexcept { return graph_; }

  // The inferred type of one of its results.
  Returned<shw_result_type> type(std::size_t result = 0) const {
    return detail::fill<shw_result_type>(shw_result_type_init, [&](shw_result_type* out) {
      return shw_builder_get_type(graph_->builder.get(), node_, result, out);
    });
  }

 private:
  detail::GraphState* graph_ = nullptr;
  std::size_t node_ = SHW_NONE;
};

namespace detail {

// The status of a call that builds: thrown, or kept where nothing was wrong before.
inline void built(GraphState& graph, shw_status* status) {
#ifdef SHARDWISE_RESULTS
  if (graph.error.ok())
    graph.error = Status(status);
  else
    shw_status_destroy(status);
#else
  (void)graph;
  give(status);
#endif
}

inline Value add_node(GraphState& graph, const char* op, Span<const Value> operands,
                      Span<const Attr> attrs, const shw_node_options& options) {
  static_assert(sizeof(Attr) == sizeof(shw_attr), "attributes are an array of C");
  if (!graph.error.ok()) return {&graph, SHW_NONE};
  constexpr std::size_t kFew = 8;
  std::array<std::size_t, kFew> few;
  std::vector<std::size_t> many;
  std::size_t* nodes = few.data();
  if (operands.size() > kFew) {
    many.resize(operands.size());
    nodes = many.data();
  }
  for (std::size_t i = 0; i < operands.size(); ++i) nodes[i] = operands[i].node();
  std::size_t node = SHW_NONE;
  built(graph, shw_builder_add_node(graph.builder.get(), op, nodes, operands.size(), attrs.data(),
                                    attrs.size(), &options, &node));
  return {&graph, node};
}

}  // namespace detail

// Any operation: shw_op_name(). The first operand says which graph it is added to. A default-made
// Value is an operand that is absent.
inline Value op(const char* name, Span<const Value> operands, Span<const Attr> attrs = {}) {
  detail::GraphState& graph = *operands[0].graph();
  return detail::add_node(graph, name, operands, attrs, graph.options);
}

inline Value operator+(Value a, Value b) { return op("add", {a, b}); }
inline Value operator-(Value a, Value b) { return op("sub", {a, b}); }
inline Value operator*(Value a, Value b) { return op("mul", {a, b}); }
inline Value operator/(Value a, Value b) { return op("div", {a, b}); }
inline Value operator+(Value a, double b) { return op("add", {a}, {Attr("other", b)}); }
inline Value operator-(Value a, double b) { return op("sub", {a}, {Attr("other", b)}); }
inline Value operator*(Value a, double b) { return op("mul", {a}, {Attr("other", b)}); }
inline Value operator/(Value a, double b) { return op("div", {a}, {Attr("other", b)}); }
inline Value operator+(double a, Value b) { return b + a; }
inline Value operator*(double a, Value b) { return b * a; }
inline Value operator-(Value a) { return op("neg", {a}); }

// Of two matrices.
inline Value matmul(Value a, Value b) { return op("mm", {a, b}); }
inline Value t(Value a) { return op("t", {a}); }
inline Value relu(Value a) { return op("relu", {a}); }
// Over `dims`; of all elements where there are none.
inline Value sum(Value a, Span<const std::int64_t> dims = {}) {
  return dims.empty() ? op("sum", {a}) : op("sum", {a}, {Attr("dims", dims)});
}
inline Value mean(Value a, Span<const std::int64_t> dims = {}) {
  return dims.empty() ? op("mean", {a}) : op("mean", {a}, {Attr("dims", dims)});
}
// One result of a node that has several.
inline Value get_item(Value a, std::int64_t index) {
  return op("get_item", {a}, {Attr("index", index)});
}

class Graph {
 public:
  static Returned<Graph> create(const Context& context) {
    shw_builder* raw = nullptr;
    shw_status* status = shw_builder_create(context.get(), &raw);
    Graph graph;
    graph.state_->builder = detail::Builder(raw);
    return detail::give(status, std::move(graph));
  }

  // Nodes that are added from now on are part of this phase, of this module. The path is lent until
  // the next call.
  void set_phase(shw_phase phase) noexcept { state_->options.phase = phase; }
  void set_module(const char* path) noexcept { state_->options.module_path = path; }

  Value input(const char* name, shw_dtype dtype, Span<const std::int64_t> dims) {
    return input(SHW_ROLE_INPUT, name, dtype, dims);
  }
  Value parameter(const char* name, shw_dtype dtype, Span<const std::int64_t> dims) {
    return input(SHW_ROLE_PARAMETER, name, dtype, dims);
  }
  // A parameter that the executors keep.
  Value state_parameter(const char* name, shw_dtype dtype, Span<const std::int64_t> dims) {
    return input(SHW_ROLE_PARAMETER, name, dtype, dims, SHW_STORAGE_STATE);
  }
  Value input(shw_role role, const char* name, shw_dtype dtype, Span<const std::int64_t> dims,
              shw_storage storage = 0) {
    BuilderInput input;
    input.role = role;
    input.storage = storage;
    input.name = name;
    input.dtype = dtype;
    input.rank = static_cast<std::int32_t>(dims.size());
    input.dims = dims.data();
    return add(input);
  }
  Value add(const shw_builder_input& input, const shw_node_options* options = nullptr) {
    return counted(
        [&](std::size_t* out) { return shw_builder_add_input(raw(), &input, options, out); });
  }
  // At most 1 MiB; copied.
  Value constant(const char* name, const shw_tensor& tensor) {
    return counted([&](std::size_t* out) {
      return shw_builder_add_constant(raw(), name, &tensor, nullptr, out);
    });
  }
  // As op(), with options of its own.
  Value op_with(const char* name, Span<const Value> operands, Span<const Attr> attrs,
                const shw_node_options& options) {
    return detail::add_node(*state_, name, operands, attrs, options);
  }

  // Outputs, entries and symbols: these return their numbers.
  std::size_t result(const char* name, Value value) {
    BuilderOutput output;
    output.role = SHW_ROLE_RESULT;
    output.name = name;
    output.node = value.node();
    return add(output);
  }
  // A default-made value: the gradient is absent.
  std::size_t gradient(Value of, Value value) { return output(SHW_ROLE_GRADIENT, of, value, 0); }
  std::size_t update(Value of, Value value) { return output(SHW_ROLE_UPDATE, of, value, 0); }
  std::size_t update_in_place(Value of, Value value) {
    return output(SHW_ROLE_UPDATE, of, value, 1);
  }
  std::size_t add(const shw_builder_output& output) {
    return counted([&](std::size_t* out) { return shw_builder_add_output(raw(), &output, out); })
        .node();
  }
  std::size_t add(const shw_builder_entry& entry) {
    return counted([&](std::size_t* out) { return shw_builder_add_entry(raw(), &entry, out); })
        .node();
  }
  std::size_t add(const shw_symbol& symbol) {
    return counted([&](std::size_t* out) { return shw_builder_add_symbol(raw(), &symbol, out); })
        .node();
  }

  // The first error of calls that returned values; ok where they throw.
  const Status& error() const noexcept { return state_->error; }

  // The graph so far, as bytes of graph.fbs; or the first error.
  Returned<Blob> finish() {
#ifdef SHARDWISE_RESULTS
    if (!state_->error.ok()) return std::move(state_->error);
#endif
    return detail::make<Blob>([&](shw_blob** out) { return shw_builder_finish(raw(), out); });
  }

  shw_builder* raw() const noexcept { return state_->builder.get(); }

 private:
  Graph() : state_(std::make_unique<detail::GraphState>()) {}

  template <class Call>
  Value counted(const Call& call) {
    std::size_t number = SHW_NONE;
    if (state_->error.ok()) detail::built(*state_, call(&number));
    return {state_.get(), number};
  }

  std::size_t output(shw_role role, Value of, Value value, std::int32_t in_place) {
    BuilderOutput output;
    output.role = role;
    output.node = value.node();
    output.of_input = of.node();
    output.in_place = in_place;
    return add(output);
  }

  std::unique_ptr<detail::GraphState> state_;
};

}  // namespace SHARDWISE_MODE
}  // namespace shardwise

#endif  // SHARDWISE_CPP_GRAPH_HPP_
