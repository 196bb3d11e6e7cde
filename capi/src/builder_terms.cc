#include "builder_terms.h"

#include <algorithm>

#include "buffer.h"
#include "graph/reader.h"
#include "ops/entries.h"
#include "ops/signature.h"
#include "rewrite/at_sizes.h"
#include "runtime/strided.h"

namespace shw::capi {
namespace {

constexpr size_t kNodeOptionsSize_0_2 = SHW_SIZE_TO(shw_node_options, reserved);

static_assert(SHW_RECOMPUTE_MUST_SAVE == static_cast<int>(Recompute::kMustSave) &&
              SHW_RECOMPUTE_PREFER_SAVE == static_cast<int>(Recompute::kPreferSave) &&
              SHW_RECOMPUTE_PREFER_RECOMPUTE == static_cast<int>(Recompute::kPreferRecompute) &&
              SHW_RECOMPUTE_MUST_RECOMPUTE == static_cast<int>(Recompute::kMustRecompute));

static_assert(static_cast<int>(OutputRole::kResult) == 1 &&
              static_cast<int>(OutputRole::kGradient) == SHW_ROLE_GRADIENT - SHW_ROLE_RESULT + 1 &&
              static_cast<int>(OutputRole::kUpdate) == SHW_ROLE_UPDATE - SHW_ROLE_RESULT + 1);

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

// "; it has: batch, cache"
std::string known_symbols(const Graph& graph) {
  std::string text;
  for (const Symbol& s : graph.symbols().table)
    text += (text.empty() ? "; it has: " : ", ") + s.name;
  return text.empty() ? "; it has none" : text;
}

Status no_expression(const Graph& graph, const char* text, const char* want) {
  return invalid_argument("'" + std::string(text) + "' is not " + want +
                          " with the graph's symbols" + known_symbols(graph));
}

// "cache", an integer; "[1,2*cache]", a list of them.
Result<AttrExprs> exprs_of(const Graph& graph, const shw_attr& attr) {
  SHW_WANT(attr.string);
  const std::vector<Symbol>& symbols = graph.symbols().table;
  if (auto list = parse_exprs(attr.string, symbols)) return AttrExprs{*std::move(list), true};
  if (auto expr = parse_expr(attr.string, symbols)) return AttrExprs{{*std::move(expr)}, false};
  return no_expression(graph, attr.string, "an expression such as 2*n+1 or [1,n]");
}

Status set_attr(const Graph& graph, AttrKey key, const shw_attr& attr, NodeAttrs& out) {
  if (attr.kind != SHW_ATTR_KIND_EXPR) {
    SHW_ASSIGN_OR_RETURN(AttrValue value, value_of(attr));
    out.attrs.set(key, std::move(value));
    return {};
  }
  SHW_ASSIGN_OR_RETURN(AttrExprs exprs, exprs_of(graph, attr));
  SHW_RETURN_IF_ERROR(set_at(key, exprs, hints_of(graph.symbols().table), out.attrs));
  if (has_symbols(exprs.exprs)) out.symbolic.emplace_back(key, std::move(exprs));
  return {};
}

Result<InputStorage> storage_of(shw_storage storage) {
  switch (storage) {
    case 0:
    case SHW_STORAGE_PORT:
      return InputStorage::kPort;
    case SHW_STORAGE_STATE:
      return InputStorage::kState;
    case SHW_STORAGE_CONSTANT:
      return invalid_argument("constants are added by shw_builder_add_constant");
    default:
      return invalid_argument("storage " + std::to_string(storage) + " is unknown");
  }
}

Status check_name_is_new(const Graph& graph, const InputInfo& info) {
  for (const InputInfo& other : graph.inputs())
    if (other.role == info.role && !info.name.empty() && other.name == info.name)
      return invalid_argument("there is an input '" + graph.full_name(other) + "' already");
  return {};
}

// The default name of a result: its position among the results.
std::string next_result_name(const Graph& graph) {
  const auto outputs = graph.outputs();
  return std::to_string(std::ranges::count_if(
      outputs, [](const OutputInfo& o) { return o.role == OutputRole::kResult; }));
}

// A gradient or update has the type of its input.
Status check_type(const Graph& graph, const OutputInfo& info) {
  if (!info.node.valid()) return {};
  const InputInfo& input = graph.inputs()[static_cast<size_t>(info.of_input)];
  const TensorType &ours = graph.type(info.node), &its = graph.type(input.node);
  if (ours.shape == its.shape && (ours.dtype == its.dtype || info.role == OutputRole::kGradient))
    return {};
  return invalid_argument("the output of '" + graph.full_name(input) + "' is " + to_string(ours) +
                          ", but the input is " + to_string(its))
      .at_node(info.node.v, graph.name(info.node));
}

// Indices below `count`, ascending.
Result<std::vector<uint32_t>> indices_of(const size_t* given, size_t size, size_t count,
                                         const char* what) {
  std::vector<uint32_t> ours;
  if (size != 0 && given == nullptr) return null_argument(what);
  for (size_t i = 0; i < size; ++i) {
    if (given[i] >= count || (i > 0 && given[i] <= given[i - 1]))
      return invalid_argument(std::string(what) + "[" + std::to_string(i) + "] is " +
                              std::to_string(given[i]) + ": the numbers must ascend and be below " +
                              std::to_string(count));
    ours.push_back(static_cast<uint32_t>(given[i]));
  }
  return ours;
}

}  // namespace

Result<NodeTexts> read_node_options(const shw_node_options* in) {
  SHW_ASSIGN_OR_RETURN(const shw_node_options o, copy_in(in, kNodeOptionsSize_0_2));
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

Result<NodeAttrs> read_attrs(const Graph& graph, OpKind op, const shw_attr* attrs, size_t count) {
  NodeAttrs out;
  if (count != 0) SHW_WANT(attrs);
  for (size_t i = 0; i < count; ++i) {
    if (attrs[i].name == nullptr)
      return invalid_argument("attrs[" + std::to_string(i) + "].name is NULL");
    const std::string name = attrs[i].name;
    const std::optional<AttrKey> key = attr_key_from_name(name);
    if (!key)
      return invalid_argument(std::string(op_name(op)) + " has no attribute '" + name + "'" +
                              known_attributes(op));
    if (out.attrs.has(*key)) return invalid_argument("attribute '" + name + "' is given twice");
    SHW_RETURN_IF_ERROR(check_reserved(attrs[i].reserved));
    if (const Status s = set_attr(graph, *key, attrs[i], out); !s.ok())
      return Status(s.code(), "attribute '" + name + "': " + s.message());
  }
  return out;
}

Result<NodeId> node_of(const Graph& graph, size_t node, const char* what) {
  if (node == SHW_NONE) return kNoNode;
  if (node < graph.num_nodes()) return NodeId{static_cast<uint32_t>(node)};
  return invalid_argument(std::string(what) + " is node " + std::to_string(node) +
                          ": the graph has " + std::to_string(graph.num_nodes()) + " nodes");
}

Result<InputType> input_type(const Graph& graph, const shw_builder_input& in) {
  if (in.dtype == 0) return invalid_argument("shw_builder_input::dtype is not set");
  if (in.symbolic_dims == nullptr) {
    SHW_ASSIGN_OR_RETURN(const TensorType type, make_type(in.dtype, in.dims, nullptr, in.rank));
    return InputType{type, {}};
  }
  if (in.rank != 0 || in.dims != nullptr)
    return invalid_argument("symbolic_dims replaces rank and dims: set only one of the two");
  const std::vector<Symbol>& symbols = graph.symbols().table;
  auto exprs = parse_exprs(in.symbolic_dims, symbols);
  if (!exprs)
    return no_expression(graph, in.symbolic_dims, "a list of expressions such as [1,2*n]");
  std::vector<int64_t> dims;
  for (const Expr& e : *exprs) {
    const auto value = value_of(e, hints_of(symbols));
    if (!value) return invalid_argument("size " + to_string(e, symbols) + " is too large");
    dims.push_back(*value);
  }
  SHW_ASSIGN_OR_RETURN(const TensorType type, make_type(in.dtype, dims.data(), nullptr,
                                                        static_cast<int32_t>(dims.size())));
  const bool is_symbolic = has_symbols(*exprs);
  return InputType{type, is_symbolic ? *std::move(exprs) : Exprs{}};
}

Status check_is_not_shared(const InputInfo& info, const Exprs& sizes) {
  if (sizes.empty() || (info.storage != InputStorage::kState && !is_trained(info.role))) return {};
  return invalid_argument("'" + info.name +
                          "' is shared by all buckets, so its sizes are numbers: the largest "
                          "ones, of which each bucket takes a slice");
}

Result<InputInfo> input_info(const Graph& graph, const shw_builder_input& in) {
  if (in.role == 0) return invalid_argument("shw_builder_input::role is not set");
  if (in.role < SHW_ROLE_PARAMETER || in.role > SHW_ROLE_OPTIMIZER_STATE)
    return invalid_argument(
        "role " + std::to_string(in.role) +
        " is not a role of inputs: SHW_ROLE_PARAMETER to SHW_ROLE_OPTIMIZER_STATE");
  InputInfo info{.node = NodeId{graph.num_nodes()},
                 .role = static_cast<InputRole>(in.role),
                 .name = text_or_empty(in.name)};
  SHW_ASSIGN_OR_RETURN(info.storage, storage_of(in.storage));
  const bool has_position = in.role == SHW_ROLE_INPUT || in.role == SHW_ROLE_TANGENT;
  if (has_position) {
    if (in.position > kMaxNodes)
      return invalid_argument("position is " + std::to_string(in.position));
    info.position = static_cast<int32_t>(in.position);
    if (info.name.empty()) info.name = std::to_string(in.position);
  }
  if (info.name.empty()) return invalid_argument("an input of this role needs a name");
  SHW_RETURN_IF_ERROR(check_name_is_new(graph, info));
  return info;
}

Result<InputInfo> constant_info(const Graph& graph, const char* name, const TensorType& type,
                                const shw_tensor& tensor) {
  InputInfo info{
      .node = NodeId{graph.num_nodes()}, .role = InputRole::kConstant, .name = text_or_empty(name)};
  if (info.name.empty()) return invalid_argument("a constant needs a name");
  SHW_RETURN_IF_ERROR(check_name_is_new(graph, info));
  const size_t most = GraphLimits().max_constant_bytes;
  const auto bytes = static_cast<size_t>(type.bytes());
  if (bytes > most)
    return invalid_argument("the constant has " + std::to_string(bytes) + " bytes; at most " +
                            std::to_string(most) + " are allowed");
  auto data = std::make_shared<std::vector<uint8_t>>(bytes);
  runtime::StridedCopy(type.shape, dtype_size(type.dtype), row_major_strides(type.shape),
                       type.strides)
      .run(data->data(), tensor.data);
  info.data = std::move(data);
  return info;
}

Result<OutputInfo> output_info(const Graph& graph, const shw_builder_output& out) {
  if (out.role == 0) {
    Status status = invalid_argument("shw_builder_output::role is not set");
    if (out.node >= graph.num_nodes()) return status;
    const NodeId node{static_cast<uint32_t>(out.node)};
    return std::move(status.at_node(node.v, graph.name(node)));
  }
  if (out.role < SHW_ROLE_RESULT || out.role > SHW_ROLE_UPDATE)
    return invalid_argument("role " + std::to_string(out.role) +
                            " is not a role of outputs: SHW_ROLE_RESULT to SHW_ROLE_UPDATE");
  OutputInfo info{.node = kNoNode,
                  .role = static_cast<OutputRole>(out.role - SHW_ROLE_RESULT + 1),
                  .name = text_or_empty(out.name)};
  SHW_ASSIGN_OR_RETURN(info.node, node_of(graph, out.node, "the output"));
  if (!info.node.valid() && out.role != SHW_ROLE_GRADIENT)
    return invalid_argument("the output has no node; only a gradient may be absent");
  if (info.node.valid() && graph.is_tuple(info.node))
    return invalid_argument("an output is one tensor, and node " + std::to_string(out.node) +
                            " is a tuple");
  if (out.in_place != 0 && (out.in_place != 1 || out.role != SHW_ROLE_UPDATE))
    return invalid_argument("in_place may be 1 for updates only");
  info.in_place = out.in_place != 0;
  if (out.role == SHW_ROLE_RESULT) {
    if (info.name.empty()) info.name = next_result_name(graph);
    return info;
  }
  if (!info.name.empty())
    return invalid_argument(
        "name must be NULL: gradients and updates take the name of their input");
  if (out.of_input == SHW_NONE)
    return invalid_argument("of_input is not set: gradients and updates name the node of an input");
  SHW_ASSIGN_OR_RETURN(const NodeId input, node_of(graph, out.of_input, "of_input"));
  if (!input.valid() || graph.input_index(input) < 0)
    return invalid_argument("of_input is node " + std::to_string(out.of_input) +
                            ", which is not an input of the graph");
  info.of_input = graph.input_index(input);
  SHW_RETURN_IF_ERROR(check_type(graph, info));
  const bool is_state =
      graph.inputs()[static_cast<size_t>(info.of_input)].storage == InputStorage::kState;
  if (is_state && out.role == SHW_ROLE_UPDATE) info.in_place = true;
  return info;
}

Status check_output_is_new(const Graph& graph, const OutputInfo& info) {
  for (const OutputInfo& other : graph.outputs())
    if (other.role == info.role && other.of_input == info.of_input && other.name == info.name)
      return invalid_argument("there is an output '" + graph.full_name(other) + "' already");
  return {};
}

Result<EntryInfo> entry_info(const Graph& graph, const shw_builder_entry& in) {
  EntryInfo info;
  info.name = text_or_empty(in.name);
  const std::vector<EntryInfo>& given = graph.given_entries();
  if (info.name.empty()) return invalid_argument("an entry needs a name");
  if (in.num_outputs == 0) return invalid_argument("an entry needs an output");
  if (std::ranges::any_of(given, [&](const EntryInfo& e) { return e.name == info.name; }))
    return invalid_argument("there is an entry '" + info.name + "' already");
  if (!(in.weight >= 0)) return invalid_argument("weight is " + std::to_string(in.weight));
  if (in.weight != 0) info.weight = in.weight;
  SHW_ASSIGN_OR_RETURN(info.outputs,
                       indices_of(in.outputs, in.num_outputs, graph.outputs().size(), "outputs"));
  SHW_ASSIGN_OR_RETURN(info.after, indices_of(in.after, in.num_after, given.size(), "after"));
  return info;
}

}  // namespace shw::capi
