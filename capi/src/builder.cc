// shw_builder: a graph by calls.
#include "shardwise/builder.h"

#include <cstddef>
#include <vector>

#include "blob.h"
#include "buffer.h"
#include "graph/graph.h"
#include "graph/writer.h"
#include "rewrite/verify.h"

using namespace shw;
using namespace shw::capi;

struct shw_builder {
  ContextRef context;
  Graph graph;
  // True while the graph is being changed, and for good if memory ran out meanwhile.
  bool torn = false;
};

namespace shw::capi {
namespace {

constexpr size_t kNodeOptionsSize_0_1 = offsetof(shw_node_options, reserved) + sizeof(int32_t);
constexpr size_t kResultTypeSize_0_1 = offsetof(shw_result_type, dims) + 8 * sizeof(int64_t);
constexpr uint32_t kMaxNodes = 1u << 20;  // as graph/reader.h

static_assert(kMaxRank == 8, "shw_result_type has as many dims");
static_assert(SHW_RECOMPUTE_MUST_SAVE == static_cast<int>(Recompute::kMustSave) &&
              SHW_RECOMPUTE_PREFER_SAVE == static_cast<int>(Recompute::kPreferSave) &&
              SHW_RECOMPUTE_PREFER_RECOMPUTE == static_cast<int>(Recompute::kPreferRecompute) &&
              SHW_RECOMPUTE_MUST_RECOMPUTE == static_cast<int>(Recompute::kMustRecompute));

Status check_usable(const shw_builder& builder) {
  if (!builder.torn) return {};
  return failed_precondition("the builder ran out of memory before: it can only be destroyed");
}

struct NodeTexts {
  std::string name;
  NodeMeta meta;
};

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : text; }

Result<NodeTexts> read_options(const shw_node_options* in) {
  SHW_ASSIGN_OR_RETURN(const shw_node_options o, copy_in(in, kNodeOptionsSize_0_1));
  SHW_RETURN_IF_ERROR(check_flags(o.flags, SHW_NODE_HAS_SEQUENCE_NR | SHW_NODE_HAS_REGION));
  SHW_RETURN_IF_ERROR(check_reserved(o.reserved));
  if (o.phase < 0 || o.phase > SHW_PHASE_BACKWARD)
    return invalid_argument("phase " + std::to_string(o.phase) + " is unknown");
  if (o.recompute < 0 || o.recompute > SHW_RECOMPUTE_MUST_RECOMPUTE)
    return invalid_argument("recompute " + std::to_string(o.recompute) + " is unknown");
  const bool has_sequence = (o.flags & SHW_NODE_HAS_SEQUENCE_NR) != 0;
  const bool has_region = (o.flags & SHW_NODE_HAS_REGION) != 0;
  if ((!has_sequence && o.sequence_nr != 0) || (!has_region && o.region != 0))
    return invalid_argument("sequence_nr and region go with their SHW_NODE_HAS_ flags");
  if (o.sequence_nr < 0 || o.region < 0)
    return invalid_argument("sequence_nr and region must not be negative");
  NodeTexts out;
  out.name = text_or_empty(o.name);
  out.meta.phase = o.phase == SHW_PHASE_BACKWARD ? Phase::kBackward : Phase::kForward;
  out.meta.recompute = static_cast<Recompute>(o.recompute);
  out.meta.module_path = text_or_empty(o.module_path);
  out.meta.source = text_or_empty(o.source);
  if (has_sequence) out.meta.sequence_nr = o.sequence_nr;
  if (has_region) out.meta.ac_graph_id = o.region;
  return out;
}

Result<AttrValue> value_of(const shw_attr& attr) {
  switch (attr.kind) {
    case SHW_ATTR_KIND_INT:
      return AttrValue(attr.int_value);
    case SHW_ATTR_KIND_FLOAT:
      return AttrValue(attr.float_value);
    case SHW_ATTR_KIND_BOOL:
      if (attr.int_value != 0 && attr.int_value != 1)
        return invalid_argument("a bool is 0 or 1, not " + std::to_string(attr.int_value));
      return AttrValue(attr.int_value == 1);
    case SHW_ATTR_KIND_DTYPE: {
      const std::optional<Dtype> dtype = dtype_from_number(attr.int_value);
      if (!dtype)
        return invalid_argument("dtype " + std::to_string(attr.int_value) + " is unknown");
      return AttrValue(*dtype);
    }
    case SHW_ATTR_KIND_INTS:
      if (attr.num_ints != 0) SHW_WANT(attr.ints);
      return AttrValue(std::vector<int64_t>(attr.ints, attr.ints + attr.num_ints));
    case SHW_ATTR_KIND_STRING:
      SHW_WANT(attr.string);
      return AttrValue(std::string(attr.string));
    default:
      return invalid_argument("kind " + std::to_string(attr.kind) + " is unknown");
  }
}

Result<Attrs> read_attrs(const shw_attr* attrs, size_t count) {
  Attrs out;
  if (count != 0) SHW_WANT(attrs);
  for (size_t i = 0; i < count; ++i) {
    if (attrs[i].name == nullptr)
      return invalid_argument("attrs[" + std::to_string(i) + "].name is NULL");
    const std::string name = attrs[i].name;
    const std::optional<AttrKey> key = attr_key_from_name(name);
    if (!key) return Status(Code::kNotFound, "there is no attribute '" + name + "'");
    if (out.has(*key)) return invalid_argument("attribute '" + name + "' is given twice");
    SHW_RETURN_IF_ERROR(check_reserved(attrs[i].reserved));
    Result<AttrValue> value = value_of(attrs[i]);
    if (!value.ok())
      return Status(value.status().code(), "attribute '" + name + "': " + value.status().message());
    out.set(*key, *std::move(value));
  }
  return out;
}

// SHW_NO_NODE where `may_be_absent`, else a node of the graph.
Result<NodeId> node_of(const Graph& graph, int32_t node, const char* what) {
  if (node == SHW_NO_NODE) return kNoNode;
  if (node >= 0 && static_cast<uint32_t>(node) < graph.num_nodes())
    return NodeId{static_cast<uint32_t>(node)};
  return invalid_argument(std::string(what) + " is node " + std::to_string(node) +
                          ": the graph has " + std::to_string(graph.num_nodes()) + " nodes");
}

Status check_room(const Graph& graph) {
  if (graph.num_nodes() < kMaxNodes) return {};
  return Status(Code::kResourceExhausted,
                "a graph has at most " + std::to_string(kMaxNodes) + " nodes");
}

Result<InputInfo> input_info(const Graph& graph, shw_role role, const char* name,
                             int32_t position) {
  if (role < SHW_ROLE_PARAMETER || role > SHW_ROLE_SEED)
    return invalid_argument("role " + std::to_string(role) + " is none of an input");
  InputInfo info{.node = NodeId{graph.num_nodes()},
                 .role = static_cast<InputRole>(role),
                 .name = text_or_empty(name),
                 .position = position};
  const bool named = role == SHW_ROLE_PARAMETER || role == SHW_ROLE_BUFFER;
  if (named && info.name.empty()) return invalid_argument("a parameter or buffer needs a name");
  if (named ? position != -1 : position < -1)
    return invalid_argument("position is " + std::to_string(position));
  for (const InputInfo& other : graph.inputs())
    if (other.role == info.role && !info.name.empty() && other.name == info.name)
      return invalid_argument("there is an input '" + graph.full_name(other) + "' already");
  if (info.name.empty() && position >= 0) info.name = std::to_string(position);
  return info;
}

Result<OutputInfo> output_info(const Graph& graph, shw_role role, int32_t node, const char* name,
                               int32_t of_input) {
  if (role < SHW_ROLE_RESULT || role > SHW_ROLE_UPDATE)
    return invalid_argument("role " + std::to_string(role) + " is none of an output");
  OutputInfo info{.node = kNoNode,
                  .role = static_cast<OutputRole>(role - SHW_ROLE_RESULT + 1),
                  .name = text_or_empty(name)};
  SHW_ASSIGN_OR_RETURN(info.node, node_of(graph, node, "the output"));
  if (info.node.valid() && graph.is_tuple(info.node))
    return invalid_argument("an output is one tensor, and node " + std::to_string(node) +
                            " is a tuple");
  SHW_ASSIGN_OR_RETURN(const NodeId input, node_of(graph, of_input, "of_input"));
  if (role == SHW_ROLE_RESULT) {
    if (input.valid()) return invalid_argument("a result belongs to no input");
    if (info.name.empty()) {
      size_t place = 0;
      for (const OutputInfo& other : graph.outputs()) place += other.role == OutputRole::kResult;
      info.name = std::to_string(place);
    }
    return info;
  }
  if (!info.name.empty()) return invalid_argument("a gradient or update has the name of its input");
  if (!input.valid() || graph.input_index(input) < 0)
    return invalid_argument("of_input is no input of the graph");
  info.of_input = graph.input_index(input);
  return info;
}
static_assert(static_cast<int>(OutputRole::kResult) == 1 &&
              static_cast<int>(OutputRole::kGradient) == SHW_ROLE_GRADIENT - SHW_ROLE_RESULT + 1 &&
              static_cast<int>(OutputRole::kUpdate) == SHW_ROLE_UPDATE - SHW_ROLE_RESULT + 1);

// Changes the graph by `change`, which may run out of memory half way.
template <class F>
void change(shw_builder& builder, F&& f) {
  builder.torn = true;
  std::forward<F>(f)(builder.graph);
  builder.torn = false;
}

// What every function that adds a node has in common: `*out_node` is written in any case.
template <class F>
shw_status* add(shw_builder* builder, int32_t* out_node, F&& f) {
  if (out_node != nullptr) *out_node = SHW_NO_NODE;
  return guard([&]() -> Status {
    SHW_WANT(out_node);
    SHW_WANT(builder);
    SHW_RETURN_IF_ERROR(check_usable(*builder));
    SHW_RETURN_IF_ERROR(check_room(builder->graph));
    SHW_RETURN_IF_ERROR(std::forward<F>(f)());
    *out_node = static_cast<int32_t>(builder->graph.num_nodes()) - 1;
    return {};
  });
}

}  // namespace
}  // namespace shw::capi

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

shw_status* shw_builder_add_input(shw_builder* builder, shw_role role, const char* name,
                                  int32_t position, shw_dtype dtype, const int64_t* dims,
                                  int32_t rank, const shw_node_options* options,
                                  int32_t* out_node) {
  return add(builder, out_node, [&]() -> Status {
    SHW_ASSIGN_OR_RETURN(const TensorType type, make_type(dtype, dims, nullptr, rank));
    SHW_ASSIGN_OR_RETURN(InputInfo info, input_info(builder->graph, role, name, position));
    SHW_ASSIGN_OR_RETURN(NodeTexts texts, read_options(options));
    change(*builder, [&](Graph& graph) {
      if (texts.name.empty()) texts.name = graph.full_name(info);
      graph.add_input(std::move(texts.name), type, std::move(info), std::move(texts.meta));
    });
    return {};
  });
}

shw_status* shw_builder_add_node(shw_builder* builder, const char* op, const int32_t* operands,
                                 size_t num_operands, const shw_attr* attrs, size_t num_attrs,
                                 const shw_node_options* options, int32_t* out_node) {
  return add(builder, out_node, [&]() -> Status {
    SHW_WANT(op);
    const std::optional<OpKind> kind = op_from_name(op);
    if (!kind) return Status(Code::kNotFound, "there is no operation '" + std::string(op) + "'");
    if (*kind == OpKind::kInput)
      return invalid_argument("inputs are added by shw_builder_add_input");
    if (num_operands != 0) SHW_WANT(operands);
    std::vector<NodeId> nodes;
    for (size_t i = 0; i < num_operands; ++i) {
      SHW_ASSIGN_OR_RETURN(nodes.emplace_back(),
                           node_of(builder->graph, operands[i], "an operand"));
    }
    SHW_ASSIGN_OR_RETURN(Attrs ours, read_attrs(attrs, num_attrs));
    SHW_ASSIGN_OR_RETURN(NodeTexts texts, read_options(options));
    auto inferred = infer_results(builder->graph, *kind, nodes, ours);
    if (!inferred.ok()) {
      Status status = inferred.status();
      return status.at_node(builder->graph.num_nodes(), texts.name.empty() ? op : texts.name);
    }
    const bool is_tuple = inferred->size() != 1;
    change(*builder, [&](Graph& graph) {
      graph.add_node(*kind, std::move(texts.name), nodes, std::move(ours), *inferred, is_tuple,
                     std::move(texts.meta));
    });
    return {};
  });
}

shw_status* shw_builder_add_output(shw_builder* builder, shw_role role, int32_t node,
                                   const char* name, int32_t of_input) {
  return guard([&]() -> Status {
    SHW_WANT(builder);
    SHW_RETURN_IF_ERROR(check_usable(*builder));
    SHW_ASSIGN_OR_RETURN(OutputInfo info, output_info(builder->graph, role, node, name, of_input));
    change(*builder, [&](Graph& graph) { graph.add_output(std::move(info)); });
    return {};
  });
}

shw_status* shw_builder_get_type(const shw_builder* builder, int32_t node, size_t result,
                                 shw_result_type* out_type) {
  return fill_struct(out_type, "out_type", kResultTypeSize_0_1, [&](auto& out) -> Status {
    SHW_WANT(builder);
    SHW_RETURN_IF_ERROR(check_usable(*builder));
    const Graph& graph = builder->graph;
    const size_t index = node < 0 ? SIZE_MAX : static_cast<size_t>(node);
    SHW_RETURN_IF_ERROR(check_index(index, graph.num_nodes(), "node"));
    const auto results = graph.results(NodeId{static_cast<uint32_t>(node)});
    SHW_RETURN_IF_ERROR(check_index(result, results.size(), "result"));
    out.num_results = static_cast<int32_t>(results.size());
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
    SHW_RETURN_IF_ERROR(verify_graph(builder->graph));
    return make_blob(builder->context, write_graph(builder->graph));
  });
}

void shw_builder_destroy(shw_builder* builder) { delete builder; }
