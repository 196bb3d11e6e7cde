#include "graph/writer.h"

#include <string>
#include <unordered_map>

#include "graph/reader.h"
#include "graph_generated.h"
#include "support/hash.h"

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
    const auto entry = entry_point();
    const auto entries = b_.CreateVector(&entry, 1);
    const auto producer = b_.CreateSharedString("shardwise");
    b_.Finish(swgr::CreateGraph(b_, kGraphFormatVersion, producer, fb_types, fb_nodes, entries),
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

  int32_t type_index(const TensorType& type) {
    std::vector<int32_t>& same_hash = type_indices_[hash_of(type)];
    for (int32_t i : same_hash)
      if (*type_values_[static_cast<size_t>(i)] == type) return i;
    const auto dims = b_.CreateVector(type.shape.begin(), type.shape.size());
    fb::Offset<fb::Vector<int64_t>> strides;
    if (type.strides != row_major_strides(type.shape))
      strides = b_.CreateVector(type.strides.begin(), type.strides.size());
    const auto index = static_cast<int32_t>(types_.size());
    types_.push_back(
        swgr::CreateTensorType(b_, dims, strides, static_cast<swgr::Dtype>(type.dtype)));
    type_values_.push_back(&type);
    same_hash.push_back(index);
    return index;
  }

  fb::Offset<swgr::Attr> attr(AttrKey key, const AttrValue& value) {
    const auto name = b_.CreateSharedString(std::string(attr_key_name(key)));
    swgr::AttrValue kind{};
    fb::Offset<void> stored;
    if (const auto* i = std::get_if<int64_t>(&value)) {
      kind = swgr::AttrValue::IntValue, stored = swgr::CreateIntValue(b_, *i).Union();
    } else if (const auto* d = std::get_if<double>(&value)) {
      b_.ForceDefaults(true);  // a default would turn -0.0 into 0.0
      kind = swgr::AttrValue::FloatValue, stored = swgr::CreateFloatValue(b_, *d).Union();
      b_.ForceDefaults(false);
    } else if (const auto* t = std::get_if<bool>(&value)) {
      kind = swgr::AttrValue::BoolValue, stored = swgr::CreateBoolValue(b_, *t).Union();
    } else if (const auto* dtype = std::get_if<Dtype>(&value)) {
      kind = swgr::AttrValue::DtypeValue;
      stored = swgr::CreateDtypeValue(b_, static_cast<swgr::Dtype>(*dtype)).Union();
    } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
      kind = swgr::AttrValue::IntsValue;
      stored = swgr::CreateIntsValue(b_, b_.CreateVector(*ints)).Union();
    } else {
      kind = swgr::AttrValue::StringValue;
      const auto s = b_.CreateSharedString(std::get<std::string>(value));
      stored = swgr::CreateStringValue(b_, s).Union();
    }
    return swgr::CreateAttr(b_, name, kind, stored);
  }

  fb::Offset<swgr::Meta> meta(const NodeMeta& m) {
    if (m == NodeMeta{}) return {};
    const auto path = text(m.module_path), source = text(m.source);
    return swgr::CreateMeta(b_, static_cast<swgr::Phase>(m.phase),
                            static_cast<swgr::Recompute>(m.recompute), m.ac_graph_id, m.sequence_nr,
                            path, source);
  }

  fb::Offset<swgr::Node> node(NodeId n) {
    const auto op = b_.CreateSharedString(std::string(op_name(graph_.op(n))));
    const auto name = text(graph_.name(n));
    std::vector<int32_t> operands, results;
    for (NodeId o : graph_.operands(n)) operands.push_back(static_cast<int32_t>(o.v));
    for (const auto& r : graph_.results(n)) results.push_back(r ? type_index(*r) : -1);
    std::vector<fb::Offset<swgr::Attr>> attrs;
    for (const auto& [key, value] : graph_.attrs(n).items()) attrs.push_back(attr(key, value));
    const auto fb_operands = vector_or_absent(operands), fb_results = vector_or_absent(results);
    const auto fb_attrs = vector_or_absent(attrs);
    const auto fb_meta = meta(graph_.meta(n));
    return swgr::CreateNode(b_, op, name, fb_operands, fb_attrs, fb_results, graph_.is_tuple(n),
                            fb_meta);
  }

  fb::Offset<swgr::EntryPoint> entry_point() {
    std::vector<fb::Offset<swgr::Input>> inputs;
    for (const InputInfo& in : graph_.inputs()) {
      const auto name = text(in.name);
      inputs.push_back(swgr::CreateInput(b_, in.node.v, static_cast<swgr::InputRole>(in.role), name,
                                         in.position));
    }
    std::vector<fb::Offset<swgr::Output>> outputs;
    for (const OutputInfo& out : graph_.outputs()) {
      const auto name = text(out.name);
      outputs.push_back(swgr::CreateOutput(b_, static_cast<int32_t>(out.node.v),
                                           static_cast<swgr::OutputRole>(out.role), name,
                                           out.of_input));
    }
    const auto fb_inputs = b_.CreateVector(inputs);
    const auto fb_outputs = b_.CreateVector(outputs);
    return swgr::CreateEntryPoint(b_, 0, fb_inputs, fb_outputs);
  }

  const Graph& graph_;
  fb::FlatBufferBuilder b_{1 << 16};
  std::vector<fb::Offset<swgr::TensorType>> types_;
  std::vector<const TensorType*> type_values_;
  std::unordered_map<uint64_t, std::vector<int32_t>> type_indices_;  // by hash; never iterated
};

}  // namespace

std::vector<uint8_t> write_graph(const Graph& graph) { return Writer(graph).run(); }

}  // namespace shw
