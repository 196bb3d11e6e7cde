// shw_builder: builds a graph by calls.
#include "shardwise/builder.h"

#include <vector>

#include "blob.h"
#include "buffer.h"
#include "builder_terms.h"
#include "graph/writer.h"
#include "ops/entries.h"
#include "ops/signature.h"
#include "rewrite/infer_sizes.h"
#include "rewrite/verify.h"

using namespace shw;
using namespace shw::capi;

struct shw_builder {
  ContextRef context;
  Graph graph;
  // True while the graph is being changed; stays true if memory ran out during a change.
  bool torn = false;
};

namespace shw::capi {
namespace {

constexpr size_t kResultTypeSize_0_2 = SHW_SIZE_TO(shw_result_type, dims);
constexpr size_t kBuilderInputSize_0_2 = SHW_SIZE_TO(shw_builder_input, symbolic_dims);
constexpr size_t kBuilderOutputSize_0_2 = SHW_SIZE_TO(shw_builder_output, of_input);
constexpr size_t kBuilderSymbolSize_0_2 = SHW_SIZE_TO(shw_symbol, hint);
constexpr size_t kBuilderEntrySize_0_2 = SHW_SIZE_TO(shw_builder_entry, num_after);

static_assert(kMaxRank == 8, "shw_result_type has as many dims");

Status check_usable(const shw_builder& builder) {
  if (!builder.torn) return {};
  return failed_precondition("the builder ran out of memory before: it can only be destroyed");
}

Status check_room(const Graph& graph) {
  if (graph.num_nodes() < kMaxNodes) return {};
  return Status(Code::kResourceExhausted,
                "a graph has at most " + std::to_string(kMaxNodes) + " nodes");
}

// Applies `change` to the graph; it may run out of memory half way.
template <class F>
void change(shw_builder& builder, F&& f) {
  builder.torn = true;
  std::forward<F>(f)(builder.graph);
  builder.torn = false;
}

// Common part of all functions that add a node. `*out_node` is written in any case.
template <class F>
shw_status* add(shw_builder* builder, size_t* out_node, F&& f) {
  return fill_value(
      out_node, "out_node",
      [&](size_t& node) -> Status {
        SHW_WANT(builder);
        SHW_RETURN_IF_ERROR(check_usable(*builder));
        SHW_RETURN_IF_ERROR(check_room(builder->graph));
        SHW_RETURN_IF_ERROR(std::forward<F>(f)());
        node = builder->graph.num_nodes() - 1;
        return {};
      },
      SHW_NONE);
}

Status add_input(shw_builder& builder, InputType type, InputInfo info,
                 const shw_node_options* options) {
  SHW_ASSIGN_OR_RETURN(NodeTexts texts, read_node_options(options));
  SHW_RETURN_IF_ERROR(check_is_not_shared(info, type.sizes));
  change(builder, [&](Graph& graph) {
    if (texts.name.empty()) texts.name = graph.full_name(info);
    const NodeId node =
        graph.add_input(std::move(texts.name), type.type, std::move(info), std::move(texts.meta));
    if (!type.sizes.empty())
      graph.symbols().shapes.emplace(std::pair(node.v, 0u), std::move(type.sizes));
  });
  return {};
}

// An error about the node that is, or would have been, added next: it has the next number.
Status at_next(const Graph& graph, Status status, const std::string& name, const char* otherwise) {
  return std::move(status.at_node(graph.num_nodes(), name.empty() ? otherwise : name));
}

Status add_node(shw_builder& builder, OpKind op, std::vector<NodeId> operands, NodeAttrs given,
                NodeTexts texts) {
  const Graph& so_far = builder.graph;
  add_absent_operands(op, given.attrs, operands);
  SHW_ASSIGN_OR_RETURN(const auto results, infer_results(so_far, op, operands, given.attrs));
  SHW_ASSIGN_OR_RETURN(auto sizes,
                       infer_sizes(so_far, op, operands, given.attrs, given.symbolic, results));
  change(builder, [&](Graph& graph) {
    const NodeId node = graph.add_node(op, std::move(texts.name), operands, std::move(given.attrs),
                                       results, results.size() != 1, std::move(texts.meta));
    for (uint32_t r = 0; r < sizes.size(); ++r)
      if (!sizes[r].empty())
        graph.symbols().shapes.emplace(std::pair(node.v, r), std::move(sizes[r]));
    for (auto& [key, value] : given.symbolic)
      graph.symbols().attributes.emplace(std::pair(node.v, key), std::move(value));
  });
  return {};
}

}  // namespace
}  // namespace shw::capi

void shw_builder_input_init(shw_builder_input* input, size_t size) { init_struct(input, size); }
void shw_builder_output_init(shw_builder_output* output, size_t size) {
  init_struct(output, size);
  if (output == nullptr || size < kBuilderOutputSize_0_2) return;
  output->node = output->of_input = SHW_NONE;
}
void shw_builder_entry_init(shw_builder_entry* entry, size_t size) { init_struct(entry, size); }
void shw_node_options_init(shw_node_options* options, size_t size) { init_struct(options, size); }
void shw_result_type_init(shw_result_type* type, size_t size) { init_struct(type, size); }

shw_status* shw_builder_create(shw_context* context, shw_builder** out_builder) {
  return make_handle(out_builder, "out_builder", [&]() -> Result<std::unique_ptr<shw_builder>> {
    SHW_WANT(context);
    auto builder = std::make_unique<shw_builder>();
    builder->context = context->ref;
    return builder;
  });
}

shw_status* shw_builder_add_symbol(shw_builder* builder, const shw_symbol* symbol,
                                   size_t* out_symbol) {
  return fill_value(
      out_symbol, "out_symbol",
      [&](size_t& index) -> Status {
        SHW_WANT(builder);
        SHW_WANT(symbol);
        SHW_RETURN_IF_ERROR(check_usable(*builder));
        SHW_ASSIGN_OR_RETURN(const shw_symbol in, copy_in(symbol, kBuilderSymbolSize_0_2));
        std::vector<Symbol> table = builder->graph.symbols().table;
        table.push_back({text_or_empty(in.name), in.minimum, in.maximum,
                         in.divisor == 0 ? 1 : in.divisor, in.hint == 0 ? in.maximum : in.hint});
        SHW_RETURN_IF_ERROR(check_symbols(table));
        builder->graph.symbols().table = std::move(table);
        index = builder->graph.symbols().table.size() - 1;
        return {};
      },
      SHW_NONE);
}

shw_status* shw_builder_add_input(shw_builder* builder, const shw_builder_input* input,
                                  const shw_node_options* options, size_t* out_node) {
  return add(builder, out_node, [&]() -> Status {
    SHW_WANT(input);
    SHW_ASSIGN_OR_RETURN(const shw_builder_input in, copy_in(input, kBuilderInputSize_0_2));
    const Graph& graph = builder->graph;
    const auto body = [&]() -> Status {
      SHW_ASSIGN_OR_RETURN(InputInfo info, input_info(graph, in));
      SHW_ASSIGN_OR_RETURN(InputType type, input_type(graph, in));
      return add_input(*builder, std::move(type), std::move(info), options);
    };
    Status status = body();
    return status.ok() ? status
                       : at_next(graph, std::move(status), text_or_empty(in.name), "input");
  });
}

shw_status* shw_builder_add_constant(shw_builder* builder, const char* name,
                                     const shw_tensor* tensor, const shw_node_options* options,
                                     size_t* out_node) {
  return add(builder, out_node, [&]() -> Status {
    SHW_WANT(tensor);
    const Graph& graph = builder->graph;
    const auto body = [&]() -> Status {
      SHW_ASSIGN_OR_RETURN(const TensorType type, type_of(*tensor));
      SHW_ASSIGN_OR_RETURN(InputInfo info, constant_info(graph, name, type, *tensor));
      return add_input(*builder, {row_major(type.dtype, type.shape), {}}, std::move(info), options);
    };
    Status status = body();
    return status.ok() ? status
                       : at_next(graph, std::move(status), text_or_empty(name), "constant");
  });
}

shw_status* shw_builder_add_node(shw_builder* builder, const char* op, const size_t* operands,
                                 size_t num_operands, const shw_attr* attrs, size_t num_attrs,
                                 const shw_node_options* options, size_t* out_node) {
  return add(builder, out_node, [&]() -> Status {
    SHW_WANT(op);
    const std::optional<OpKind> kind = op_from_name(op);
    if (!kind) return unknown_op(op);
    if (*kind == OpKind::kInput)
      return invalid_argument("inputs are added by shw_builder_add_input");
    if (num_operands != 0) SHW_WANT(operands);
    const Graph& graph = builder->graph;
    SHW_ASSIGN_OR_RETURN(NodeTexts texts, read_node_options(options));
    const std::string name = texts.name;
    const auto body = [&]() -> Status {
      std::vector<NodeId> nodes;
      for (size_t i = 0; i < num_operands; ++i) {
        SHW_ASSIGN_OR_RETURN(nodes.emplace_back(), node_of(graph, operands[i], "an operand"));
      }
      SHW_ASSIGN_OR_RETURN(NodeAttrs given, read_attrs(graph, *kind, attrs, num_attrs));
      return add_node(*builder, *kind, std::move(nodes), std::move(given), std::move(texts));
    };
    Status status = body();
    return status.ok() ? status : at_next(graph, std::move(status), name, op);
  });
}

shw_status* shw_builder_add_output(shw_builder* builder, const shw_builder_output* output,
                                   size_t* out_output) {
  return fill_value(
      out_output, "out_output",
      [&](size_t& index) -> Status {
        SHW_WANT(builder);
        SHW_WANT(output);
        SHW_RETURN_IF_ERROR(check_usable(*builder));
        SHW_ASSIGN_OR_RETURN(const shw_builder_output out, copy_in(output, kBuilderOutputSize_0_2));
        SHW_ASSIGN_OR_RETURN(OutputInfo info, output_info(builder->graph, out));
        SHW_RETURN_IF_ERROR(check_output_is_new(builder->graph, info));
        change(*builder, [&](Graph& graph) { graph.add_output(std::move(info)); });
        index = builder->graph.outputs().size() - 1;
        return {};
      },
      SHW_NONE);
}

shw_status* shw_builder_add_entry(shw_builder* builder, const shw_builder_entry* entry,
                                  size_t* out_entry) {
  return fill_value(
      out_entry, "out_entry",
      [&](size_t& index) -> Status {
        SHW_WANT(builder);
        SHW_WANT(entry);
        SHW_RETURN_IF_ERROR(check_usable(*builder));
        SHW_ASSIGN_OR_RETURN(const shw_builder_entry in, copy_in(entry, kBuilderEntrySize_0_2));
        SHW_ASSIGN_OR_RETURN(EntryInfo info, entry_info(builder->graph, in));
        change(*builder, [&](Graph& graph) {
          std::vector<EntryInfo> entries = graph.given_entries();
          entries.push_back(std::move(info));
          list_needed_inputs(graph, entries);
          graph.set_entries(std::move(entries));
        });
        index = builder->graph.given_entries().size() - 1;
        return {};
      },
      SHW_NONE);
}

shw_status* shw_builder_get_type(const shw_builder* builder, size_t node, size_t result,
                                 shw_result_type* out_type) {
  return fill_struct(out_type, "out_type", kResultTypeSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(builder);
    SHW_RETURN_IF_ERROR(check_usable(*builder));
    const Graph& graph = builder->graph;
    SHW_RETURN_IF_ERROR(check_index(node, graph.num_nodes(), "node"));
    const auto results = graph.results(NodeId{static_cast<uint32_t>(node)});
    SHW_RETURN_IF_ERROR(check_index(result, results.size(), "result"));
    out.num_results = results.size();
    if (!results[result]) return {};
    const TensorType& type = *results[result];
    out.present = 1;
    out.dtype = static_cast<shw_dtype>(type.dtype);
    out.rank = type.rank();
    std::copy(type.shape.begin(), type.shape.end(), out.dims);
    return {};
  });
}

shw_status* shw_builder_finish(const shw_builder* builder, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(builder);
    SHW_RETURN_IF_ERROR(check_usable(*builder));
    if (builder->graph.outputs().empty()) return invalid_argument("the graph has no outputs");
    SHW_RETURN_IF_ERROR(verify_graph(builder->graph));
    return make_blob(builder->context, write_graph(builder->graph));
  });
}

void shw_builder_destroy(shw_builder* builder) { delete builder; }
