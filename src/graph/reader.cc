#include "graph/reader.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "graph_generated.h"
#include "support/utf8.h"
#include "tensor/wire.h"

namespace shw {
namespace {

namespace fb = flatbuffers;

// The schema needs depth 5. The limit on tables allows 10^6 nodes with a few attributes each.
constexpr fb::uoffset_t kMaxDepth = 16;
constexpr fb::uoffset_t kMaxTables = 1u << 23;
constexpr size_t kAlignment = 16;
constexpr size_t kSmallestBytes = 8;  // root offset and identifier

using wire::count;

std::string text(const fb::String* s) { return s == nullptr ? std::string() : s->str(); }

class Reader {
 public:
  Reader(const swgr::Graph& file, const GraphLimits& limits) : file_(file), limits_(limits) {}

  Result<Graph> run() {
    SHW_RETURN_IF_ERROR(check_header());
    SHW_RETURN_IF_ERROR(check_ops());
    SHW_ASSIGN_OR_RETURN(graph_.symbols().table, wire::read_symbols(file_.symbols()));
    hints_ = hints_of(graph_.symbols().table);
    SHW_RETURN_IF_ERROR(read_types());
    SHW_RETURN_IF_ERROR(check_inputs());
    const fb::uoffset_t num_nodes = count(file_.nodes());
    graph_.reserve(num_nodes);
    for (fb::uoffset_t i = 0; i < num_nodes; ++i) {
      const swgr::Node& node = *file_.nodes()->Get(i);
      Status status = read_node(node, i);
      if (!status.ok()) return status.at_node(i, text(node.name()));
    }
    if (next_input_ != count(file_.inputs()))
      return invalid_argument("input " + std::to_string(next_input_) + " names node " +
                              std::to_string(file_.inputs()->Get(next_input_)->node()) +
                              ", which is not an input or comes out of order");
    for (fb::uoffset_t i = 0; i < count(file_.outputs()); ++i)
      SHW_RETURN_IF_ERROR(read_output(*file_.outputs()->Get(i), i));
    SHW_RETURN_IF_ERROR(read_entries());
    SHW_RETURN_IF_ERROR(check_symbols(graph_));
    return std::move(graph_);
  }

 private:
  Status check_header() const {
    if (file_.format_version() != kGraphFormatVersion)
      return unimplemented("the graph has format version " +
                           std::to_string(file_.format_version()) +
                           "; this library reads version " + std::to_string(kGraphFormatVersion));
    if (count(file_.entry_points()) == 0) return invalid_argument("the graph has no entry point");
    if (count(file_.entry_points()) > limits_.max_entries)
      return invalid_argument("the graph has " + std::to_string(count(file_.entry_points())) +
                              " entry points, more than the limit of " +
                              std::to_string(limits_.max_entries));
    if (count(file_.nodes()) > limits_.max_nodes)
      return invalid_argument("the graph has " + std::to_string(count(file_.nodes())) +
                              " nodes, more than the limit of " +
                              std::to_string(limits_.max_nodes));
    return {};
  }

  // Reports all unknown operations at once, because someone who ports a model needs the whole list.
  Status check_ops() {
    std::map<std::string, int64_t> unknown;
    for (fb::uoffset_t i = 0; i < count(file_.nodes()); ++i) {
      const fb::String& name = *file_.nodes()->Get(i)->op();
      if (name.size() > limits_.max_string_bytes)
        return invalid_argument("the name of the op is too long")
            .at_node(i, text(file_.nodes()->Get(i)->name()));
      if (!is_text(name.string_view()))
        return invalid_argument("the name of the op is not UTF-8").at_node(i, "");
      const auto op = op_from_name(name.string_view());
      if (!op) ++unknown[name.str()];
      ops_.push_back(op.value_or(OpKind::kInput));
    }
    if (unknown.empty()) return {};
    std::string list;
    for (const auto& [name, times] : unknown)
      list += (list.empty() ? "" : ", ") + name + " (" + std::to_string(times) + ")";
    return unimplemented("the graph has " + std::to_string(unknown.size()) +
                         " ops that are not known: " + list);
  }

  Status read_types() {
    for (fb::uoffset_t i = 0; i < count(file_.types()); ++i) {
      auto type = wire::read_type(*file_.types()->Get(i), &sizes_.emplace_back());
      if (!type.ok()) return type_error(type.status(), i);
      types_.push_back(*type);
    }
    return {};
  }

  // A bad type is reported with the first node that has it.
  Status type_error(Status status, fb::uoffset_t type) const {
    for (fb::uoffset_t i = 0; i < count(file_.nodes()); ++i) {
      const swgr::Node& node = *file_.nodes()->Get(i);
      for (fb::uoffset_t k = 0; k < count(node.results()); ++k)
        if (node.results()->Get(k) == static_cast<int64_t>(type))
          return status.at_node(i, text(node.name()));
    }
    return {status.code(), "type " + std::to_string(type) + ": " + status.message()};
  }

  Status check_inputs() {
    for (fb::uoffset_t i = 0; i < count(file_.inputs()); ++i) {
      const swgr::Input& in = *file_.inputs()->Get(i);
      const std::string where = "input " + std::to_string(i);
      if (in.node() >= count(file_.nodes()))
        return invalid_argument(where + " names node " + std::to_string(in.node()) +
                                "; the graph has " + std::to_string(count(file_.nodes())));
      if (in.role() < swgr::InputRole::parameter || in.role() > swgr::InputRole::constant)
        return invalid_argument(where + " has the unknown role " +
                                std::to_string(static_cast<int>(in.role())));
      if (in.storage() > swgr::InputStorage::state)
        return invalid_argument(where + " has the unknown storage " +
                                std::to_string(static_cast<int>(in.storage())));
      if (in.role() != swgr::InputRole::constant && in.data() != nullptr)
        return invalid_argument(where + " has data, but is not a constant");
      SHW_RETURN_IF_ERROR(spend_data(count(in.data()), where));
      SHW_RETURN_IF_ERROR(spend_text(in.name()));
    }
    return {};
  }

  Status read_node(const swgr::Node& node, fb::uoffset_t index) {
    const swgr::Meta* m = node.meta();
    SHW_RETURN_IF_ERROR(spend_text(node.name()));
    SHW_RETURN_IF_ERROR(spend_text(m == nullptr ? nullptr : m->module_path()));
    SHW_RETURN_IF_ERROR(spend_text(m == nullptr ? nullptr : m->source()));
    SHW_RETURN_IF_ERROR(spend_items(size_t{count(node.operands())} + count(node.results())));
    SHW_RETURN_IF_ERROR(read_operands(node, index));
    SHW_RETURN_IF_ERROR(read_results(node));
    Attrs attrs;
    SHW_RETURN_IF_ERROR(read_attrs(node, index, &attrs));
    NodeMeta meta;
    SHW_RETURN_IF_ERROR(read_meta(m, &meta));
    SHW_RETURN_IF_ERROR(read_sizes(node, index));
    if (ops_[index] != OpKind::kInput) {
      graph_.add_node(ops_[index], text(node.name()), operands_, std::move(attrs), results_,
                      node.is_tuple(), std::move(meta));
      return {};
    }
    if (!operands_.empty() || !attrs.empty() || node.is_tuple())
      return invalid_argument("an input has no operands and no attributes and is one tensor");
    return add_input(node, index, std::move(meta));
  }

  Status add_input(const swgr::Node& node, fb::uoffset_t index, NodeMeta meta) {
    const auto* inputs = file_.inputs();
    if (next_input_ >= count(inputs) || inputs->Get(next_input_)->node() != index)
      return invalid_argument("the input has no entry among the inputs, or it is out of order");
    const swgr::Input& in = *inputs->Get(next_input_++);
    InputInfo info{NodeId{index}, static_cast<InputRole>(in.role()), text(in.name()), in.position(),
                   static_cast<InputStorage>(in.storage())};
    if (info.role == InputRole::kConstant)
      info.data = std::make_shared<const std::vector<uint8_t>>(wire::copy(in.data()));
    graph_.add_input(text(node.name()), *results_[0], std::move(info), std::move(meta));
    return {};
  }

  Status read_operands(const swgr::Node& node, fb::uoffset_t index) {
    operands_.clear();
    for (fb::uoffset_t k = 0; k < count(node.operands()); ++k) {
      const int32_t o = node.operands()->Get(k);
      const std::string where = "operand " + std::to_string(k) + " is node " + std::to_string(o);
      if (o < -1 || (o >= 0 && static_cast<fb::uoffset_t>(o) >= count(file_.nodes())))
        return invalid_argument(where + "; the graph has " + std::to_string(count(file_.nodes())));
      if (o >= 0 && static_cast<fb::uoffset_t>(o) >= index)
        return invalid_argument(where + ", which does not come before its use");
      operands_.push_back(o < 0 ? kNoNode : NodeId{static_cast<uint32_t>(o)});
    }
    return {};
  }

  Status read_results(const swgr::Node& node) {
    results_.clear();
    for (fb::uoffset_t k = 0; k < count(node.results()); ++k) {
      const int32_t t = node.results()->Get(k);
      if (t < -1 || (t >= 0 && static_cast<size_t>(t) >= types_.size()))
        return invalid_argument("result " + std::to_string(k) + " has type " + std::to_string(t) +
                                "; the graph has " + std::to_string(types_.size()));
      results_.push_back(t < 0 ? std::nullopt
                               : std::optional<TensorType>(types_[static_cast<size_t>(t)]));
    }
    if (!node.is_tuple() && (results_.size() != 1 || !results_[0]))
      return invalid_argument("the node is not a tuple, so it needs exactly one result");
    return {};
  }

  Status read_sizes(const swgr::Node& node, fb::uoffset_t index) {
    for (fb::uoffset_t k = 0; k < count(node.results()); ++k) {
      const int32_t t = node.results()->Get(k);
      if (t < 0 || sizes_[static_cast<size_t>(t)].empty()) continue;
      const Exprs& sizes = sizes_[static_cast<size_t>(t)];
      for (const Expr& e : sizes) SHW_RETURN_IF_ERROR(spend_items(1 + e.terms.size()));
      graph_.symbols().shapes.emplace(std::pair(index, k), sizes);
    }
    return {};
  }

  Status read_attrs(const swgr::Node& node, fb::uoffset_t index, Attrs* out) {
    for (fb::uoffset_t k = 0; k < count(node.attrs()); ++k) {
      const wire::Attr& attr = *node.attrs()->Get(k);
      SHW_RETURN_IF_ERROR(spend_text(attr.name()));
      const auto key = attr_key_from_name(attr.name()->string_view());
      if (!key) return invalid_argument("unknown attribute '" + attr.name()->str() + "'");
      if (out->has(*key))
        return invalid_argument("attribute '" + attr.name()->str() + "' stands twice");
      SHW_RETURN_IF_ERROR(spend_value(attr));
      AttrExprs exprs;
      auto value = wire::read_value(attr, hints_, &exprs);
      if (!value.ok())
        return {value.status().code(),
                "attribute '" + attr.name()->str() + "': " + value.status().message()};
      out->set(*key, *std::move(value));
      if (has_symbols(exprs.exprs))
        graph_.symbols().attributes.emplace(std::pair(index, *key), std::move(exprs));
    }
    return {};
  }

  Status spend_value(const wire::Attr& attr) {
    if (const auto* ints = attr.value_as_IntsValue()) return spend_items(count(ints->value()));
    if (const auto* string = attr.value_as_StringValue()) return spend_text(string->value());
    if (const auto* exprs = attr.value_as_ExprsValue())
      for (fb::uoffset_t i = 0; i < count(exprs->value()); ++i)
        SHW_RETURN_IF_ERROR(spend_items(size_t{1} + count(exprs->value()->Get(i)->symbols())));
    return {};
  }

  static Status read_meta(const swgr::Meta* m, NodeMeta* out) {
    if (m == nullptr) return {};
    if (m->phase() > swgr::Phase::backward)
      return invalid_argument("unknown phase " + std::to_string(static_cast<int>(m->phase())));
    if (m->recompute() > swgr::Recompute::must_recompute)
      return invalid_argument("unknown recompute tag " +
                              std::to_string(static_cast<int>(m->recompute())));
    *out = {static_cast<Phase>(m->phase()),
            static_cast<Recompute>(m->recompute()),
            m->ac_graph_id(),
            m->sequence_nr(),
            text(m->module_path()),
            text(m->source())};
    return {};
  }

  Status read_output(const swgr::Output& out, fb::uoffset_t index) {
    const std::string where = "output " + std::to_string(index);
    const auto num_nodes = static_cast<int64_t>(graph_.num_nodes());
    const auto num_inputs = static_cast<int64_t>(graph_.inputs().size());
    if (out.node() < -1 || out.node() >= num_nodes)
      return invalid_argument(where + " is node " + std::to_string(out.node()) +
                              "; the graph has " + std::to_string(num_nodes));
    if (out.role() < swgr::OutputRole::result || out.role() > swgr::OutputRole::update)
      return invalid_argument(where + " has the unknown role " +
                              std::to_string(static_cast<int>(out.role())));
    if (out.of_input() < -1 || out.of_input() >= num_inputs)
      return invalid_argument(where + " belongs to input " + std::to_string(out.of_input()) +
                              "; the graph has " + std::to_string(num_inputs));
    if (out.role() == swgr::OutputRole::result ? out.of_input() != -1 : !text(out.name()).empty())
      return invalid_argument(where + " mixes the fields of a result and of a gradient");
    SHW_RETURN_IF_ERROR(spend_text(out.name()));
    const NodeId node = out.node() < 0 ? kNoNode : NodeId{static_cast<uint32_t>(out.node())};
    if (node.valid() && graph_.is_tuple(node))
      return invalid_argument(where + " is a tuple; a tensor is expected")
          .at_node(node.v, graph_.name(node));
    OutputInfo info{node, static_cast<OutputRole>(out.role()), text(out.name()), out.of_input(),
                    out.in_place()};
    if (info.in_place && info.role != OutputRole::kUpdate)
      return invalid_argument(where + " is to be made in place, but is not an update");
    graph_.add_output(std::move(info));
    return {};
  }

  Status read_entries() {
    std::vector<EntryInfo> entries;
    for (const swgr::EntryPoint* e : *file_.entry_points()) {
      SHW_RETURN_IF_ERROR(spend_text(e->name()));
      SHW_RETURN_IF_ERROR(
          spend_items(size_t{count(e->inputs())} + count(e->outputs()) + count(e->after())));
      entries.push_back({text(e->name()), e->weight(), wire::copy(e->inputs()),
                         wire::copy(e->outputs()), wire::copy(e->after())});
    }
    if (entries != graph_.entries()) graph_.set_entries(std::move(entries));
    return {};
  }

  Status spend_data(size_t bytes, const std::string& where) {
    data_bytes_ += bytes;
    if (bytes <= limits_.max_constant_bytes && data_bytes_ <= limits_.max_data_bytes) return {};
    return invalid_argument(where + " is a constant of " + std::to_string(bytes) +
                            " bytes; one may have " + std::to_string(limits_.max_constant_bytes) +
                            ", all together " + std::to_string(limits_.max_data_bytes) +
                            ": make it a buffer");
  }

  Status spend_text(const fb::String* s) {
    if (s == nullptr) return {};
    if (s->size() > limits_.max_string_bytes)
      return invalid_argument("a text of " + std::to_string(s->size()) +
                              " bytes is longer than the limit of " +
                              std::to_string(limits_.max_string_bytes));
    if (!is_text(s->string_view())) return invalid_argument("a text that is not UTF-8");
    text_bytes_ += s->size();
    if (text_bytes_ > limits_.max_text_bytes)
      return invalid_argument("names and paths take more than the limit of " +
                              std::to_string(limits_.max_text_bytes) + " bytes");
    return {};
  }

  Status spend_items(size_t n) {
    items_ += n;
    if (items_ > limits_.max_list_items)
      return invalid_argument("operands, results and attributes are more than the limit of " +
                              std::to_string(limits_.max_list_items));
    return {};
  }

  const swgr::Graph& file_;
  const GraphLimits& limits_;
  Graph graph_;
  std::vector<OpKind> ops_;
  std::vector<TensorType> types_;
  std::vector<Exprs> sizes_;    // of the types; empty: numbers
  std::vector<int64_t> hints_;  // of the symbols
  fb::uoffset_t next_input_ = 0;
  size_t items_ = 0, text_bytes_ = 0, data_bytes_ = 0;
  std::vector<NodeId> operands_;                    // of the node that is read
  std::vector<std::optional<TensorType>> results_;  // the same
};

// Copies the bytes to aligned memory if necessary: FlatBuffers checks offsets, but not the base
// address.
std::span<const uint8_t> aligned(std::span<const uint8_t> bytes,
                                 std::unique_ptr<std::max_align_t[]>* storage) {
  static_assert(alignof(std::max_align_t) >= kAlignment);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0) return bytes;
  *storage = std::make_unique<std::max_align_t[]>(bytes.size() / sizeof(std::max_align_t) + 1);
  std::memcpy(storage->get(), bytes.data(), bytes.size());
  return {reinterpret_cast<const uint8_t*>(storage->get()), bytes.size()};
}

}  // namespace

Result<Graph> read_graph(std::span<const uint8_t> bytes, const GraphLimits& limits) {
  if (bytes.size() > limits.max_bytes)
    return invalid_argument("the graph has " + std::to_string(bytes.size()) +
                            " bytes, more than the limit of " + std::to_string(limits.max_bytes) +
                            "; weights do not belong into it");
  if (bytes.size() < kSmallestBytes)
    return invalid_argument("these are not the bytes of a graph: only " +
                            std::to_string(bytes.size()) + " bytes");
  std::unique_ptr<std::max_align_t[]> storage;
  bytes = aligned(bytes, &storage);
  if (!swgr::GraphBufferHasIdentifier(bytes.data()))
    return invalid_argument("these are not the bytes of a graph: the file identifier is not SWGR");
  fb::Verifier verifier(bytes.data(), bytes.size(), kMaxDepth, kMaxTables);
  if (!swgr::VerifyGraphBuffer(verifier))
    return invalid_argument("the bytes of the graph are damaged: an offset leads out of the " +
                            std::to_string(bytes.size()) + " bytes");
  return Reader(*swgr::GetGraph(bytes.data()), limits).run();
}

}  // namespace shw
