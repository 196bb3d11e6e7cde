#include "unit/graph/graph_file.h"

namespace shw::testing {
namespace {

namespace fb = flatbuffers;

fb::Offset<swgr::Attr> write(fb::FlatBufferBuilder& b, const AttrSpec& a) {
  const auto name = b.CreateString(a.name);
  fb::Offset<void> value;
  switch (a.kind) {
    case swgr::AttrValue::IntsValue:
      value = swgr::CreateIntsValue(b, b.CreateVector(a.list)).Union();
      break;
    case swgr::AttrValue::DtypeValue:
      value = swgr::CreateDtypeValue(b, static_cast<swgr::Dtype>(a.value)).Union();
      break;
    default:
      value = swgr::CreateIntValue(b, a.value).Union();
  }
  return swgr::CreateAttr(b, name, a.kind, value);
}

fb::Offset<swgr::Node> write(fb::FlatBufferBuilder& b, const NodeSpec& n) {
  std::vector<fb::Offset<swgr::Attr>> attrs;
  for (const AttrSpec& a : n.attrs) attrs.push_back(write(b, a));
  const auto op = b.CreateString(n.op), name = b.CreateString(n.name);
  const auto operands = b.CreateVector(n.operands), results = b.CreateVector(n.results);
  const auto fb_attrs = b.CreateVector(attrs);
  const auto meta = swgr::CreateMeta(b, static_cast<swgr::Phase>(n.phase),
                                     static_cast<swgr::Recompute>(n.recompute));
  return swgr::CreateNode(b, op, name, operands, fb_attrs, results, n.is_tuple, meta);
}

fb::Offset<swgr::TensorType> write(fb::FlatBufferBuilder& b, const TypeSpec& t) {
  const auto dims = b.CreateVector(t.dims);
  fb::Offset<fb::Vector<int64_t>> strides;
  if (!t.strides.empty()) strides = b.CreateVector(t.strides);
  fb::Offset<fb::Vector<fb::Offset<fb::String>>> symbols;
  if (!t.symbols.empty()) symbols = b.CreateVectorOfStrings(t.symbols);
  return swgr::CreateTensorType(b, dims, strides, static_cast<swgr::Dtype>(t.dtype), symbols);
}

template <class Spec>
auto write_all(fb::FlatBufferBuilder& b, const std::vector<Spec>& specs) {
  std::vector<decltype(write(b, specs[0]))> offsets;
  for (const Spec& s : specs) offsets.push_back(write(b, s));
  return b.CreateVector(offsets);
}

fb::Offset<swgr::EntryPoint> write_entry(fb::FlatBufferBuilder& b, const GraphFile& file) {
  std::vector<fb::Offset<swgr::Input>> inputs;
  for (const InputSpec& in : file.inputs) {
    const auto name = b.CreateString(in.name);
    inputs.push_back(swgr::CreateInput(b, in.node, static_cast<swgr::InputRole>(in.role), name));
  }
  std::vector<fb::Offset<swgr::Output>> outputs;
  for (const OutputSpec& out : file.outputs) {
    const auto name = b.CreateString(out.name);
    outputs.push_back(swgr::CreateOutput(b, out.node, static_cast<swgr::OutputRole>(out.role), name,
                                         out.of_input));
  }
  const auto fb_inputs = b.CreateVector(inputs);
  const auto fb_outputs = b.CreateVector(outputs);
  return swgr::CreateEntryPoint(b, 0, fb_inputs, fb_outputs);
}

}  // namespace

std::vector<uint8_t> GraphFile::bytes() const {
  fb::FlatBufferBuilder b;
  const auto fb_types = write_all(b, types);
  const auto fb_nodes = write_all(b, nodes);
  const std::vector<fb::Offset<swgr::EntryPoint>> entries(num_entry_points, write_entry(b, *this));
  const auto fb_entries = b.CreateVector(entries);
  b.Finish(swgr::CreateGraph(b, format_version, 0, fb_types, fb_nodes, fb_entries),
           swgr::GraphIdentifier());
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

GraphFile small_graph() {
  GraphFile f;
  f.types = {{{4, 8}}, {{8, 2}}, {{4, 2}}};
  f.nodes = {{"input", "x", {}, {0}}, {"input", "w", {}, {1}}, {"mm", "y", {0, 1}, {2}}};
  f.inputs = {{0, 3, "0"}, {1, 1, "w"}};
  f.outputs = {{2, 1, "0", -1}, {-1, 2, "", 1}};
  return f;
}

}  // namespace shw::testing
