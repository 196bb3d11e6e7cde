#include "graph/writer.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "graph/reader.h"
#include "graph_generated.h"
#include "support/hash.h"
#include "tensor/wire.h"

namespace shw {
namespace {

namespace fb = flatbuffers;

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  std::vector<uint8_t> run() {
    std::vector<fb::Offset<swgr::Node>> nodes;
    nodes.reserve(graph_.num_nodes());
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) nodes.push_back(node(NodeId{i}));
    const auto fb_nodes = b_.CreateVector(nodes);
    const auto fb_types = b_.CreateVector(types_);
    const auto fb_inputs = inputs();
    const auto fb_outputs = outputs();
    std::vector<fb::Offset<swgr::EntryPoint>> entries;
    for (const EntryInfo& e : graph_.entries()) entries.push_back(entry_point(e));
    const auto fb_entries = b_.CreateVector(entries);
    const auto symbols = wire::write_symbols(b_, graph_.symbols().table);
    const auto producer = b_.CreateSharedString("shardwise");
    b_.Finish(swgr::CreateGraph(b_, kGraphFormatVersion, producer, fb_types, fb_nodes, fb_inputs,
                                fb_outputs, fb_entries, symbols),
              swgr::GraphIdentifier());
    return {b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize()};
  }

 private:
  fb::Offset<fb::String> text(const std::string& s) {  // an empty one is absent
    return s.empty() ? fb::Offset<fb::String>() : b_.CreateSharedString(s);
  }

  template <class T>
  auto vector_or_absent(const std::vector<T>& v) {
    using Stored = decltype(b_.CreateVector(v));
    return v.empty() ? Stored() : b_.CreateVector(v);
  }

  struct SizedType {
    const TensorType* type;
    std::span<const Expr> sizes;
  };
  std::span<const Expr> sizes_of(NodeId n, uint32_t result) const {
    const auto& shapes = graph_.symbols().shapes;
    const auto it = shapes.find({n.v, result});
    return it == shapes.end() ? std::span<const Expr>() : it->second;
  }

  int32_t type_index(NodeId n, uint32_t result) {
    const SizedType type{&*graph_.results(n)[result], sizes_of(n, result)};
    std::vector<int32_t>& same_hash =
        type_indices_[hash_combine(hash_of(*type.type), hash_of(type.sizes))];
    for (int32_t i : same_hash)
      if (*type_values_[static_cast<size_t>(i)].type == *type.type &&
          std::ranges::equal(type_values_[static_cast<size_t>(i)].sizes, type.sizes))
        return i;
    const auto index = static_cast<int32_t>(types_.size());
    types_.push_back(wire::write_type(b_, *type.type, type.sizes));
    type_values_.push_back(type);
    same_hash.push_back(index);
    return index;
  }

  fb::Offset<swgr::Meta> meta(const NodeMeta& m) {
    if (m == NodeMeta{}) return {};
    const auto path = text(m.module_path), source = text(m.source);
    return swgr::CreateMeta(b_, static_cast<swgr::Phase>(m.phase),
                            static_cast<swgr::Recompute>(m.recompute), m.ac_graph_id, m.sequence_nr,
                            path, source);
  }

  fb::Offset<wire::Attr> attr(NodeId n, AttrKey key, const AttrValue& value) {
    const auto& exprs = graph_.symbols().attributes;
    const auto it = exprs.find({n.v, key});
    return it == exprs.end() ? wire::write_attr(b_, key, value)
                             : wire::write_attr(b_, key, it->second);
  }

  fb::Offset<swgr::Node> node(NodeId n) {
    const auto op = b_.CreateSharedString(std::string(op_name(graph_.op(n))));
    const auto name = text(graph_.name(n));
    std::vector<int32_t> operands, results;
    for (NodeId o : graph_.operands(n)) operands.push_back(static_cast<int32_t>(o.v));
    for (uint32_t r = 0; r < graph_.results(n).size(); ++r)
      results.push_back(graph_.results(n)[r] ? type_index(n, r) : -1);
    std::vector<fb::Offset<wire::Attr>> attrs;
    for (const auto& [key, value] : graph_.attrs(n).items()) attrs.push_back(attr(n, key, value));
    const auto fb_operands = vector_or_absent(operands), fb_results = vector_or_absent(results);
    const auto fb_attrs = vector_or_absent(attrs);
    const auto fb_meta = meta(graph_.meta(n));
    return swgr::CreateNode(b_, op, name, fb_operands, fb_attrs, fb_results, graph_.is_tuple(n),
                            fb_meta);
  }

  fb::Offset<fb::Vector<fb::Offset<swgr::Input>>> inputs() {
    std::vector<fb::Offset<swgr::Input>> list;
    for (const InputInfo& in : graph_.inputs()) {
      const auto name = text(in.name);
      fb::Offset<fb::Vector<uint8_t>> data;
      if (in.data != nullptr) data = b_.CreateVector(*in.data);
      list.push_back(swgr::CreateInput(b_, in.node.v, static_cast<swgr::InputRole>(in.role), name,
                                       in.position, static_cast<swgr::InputStorage>(in.storage),
                                       data));
    }
    return b_.CreateVector(list);
  }

  fb::Offset<fb::Vector<fb::Offset<swgr::Output>>> outputs() {
    std::vector<fb::Offset<swgr::Output>> list;
    for (const OutputInfo& out : graph_.outputs()) {
      const auto name = text(out.name);
      list.push_back(swgr::CreateOutput(b_, static_cast<int32_t>(out.node.v),
                                        static_cast<swgr::OutputRole>(out.role), name, out.of_input,
                                        out.in_place));
    }
    return b_.CreateVector(list);
  }

  fb::Offset<swgr::EntryPoint> entry_point(const EntryInfo& e) {
    const auto name = b_.CreateString(e.name);
    const auto inputs = vector_or_absent(e.inputs), outputs = vector_or_absent(e.outputs);
    return swgr::CreateEntryPoint(b_, name, e.weight, inputs, outputs, vector_or_absent(e.after));
  }

  const Graph& graph_;
  fb::FlatBufferBuilder b_{1 << 16};
  std::vector<fb::Offset<wire::TensorType>> types_;
  std::vector<SizedType> type_values_;
  std::unordered_map<uint64_t, std::vector<int32_t>> type_indices_;  // by hash; never iterated
};

}  // namespace

std::vector<uint8_t> write_graph(const Graph& graph) { return Writer(graph).run(); }

}  // namespace shw
