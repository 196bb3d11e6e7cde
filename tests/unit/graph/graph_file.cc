#include "unit/graph/graph_file.h"

namespace shw::testing {
namespace {

namespace fb = flatbuffers;

fb::Offset<wire::Expr> write(fb::FlatBufferBuilder& b, const ExprSpec& e) {
  const auto symbols = b.CreateVector(e.symbols);
  const auto factors = b.CreateVector(e.factors);
  return wire::CreateExpr(b, e.constant, symbols, factors);
}

fb::Offset<fb::Vector<fb::Offset<wire::Expr>>> write_exprs(fb::FlatBufferBuilder& b,
                                                           const std::vector<ExprSpec>& specs) {
  std::vector<fb::Offset<wire::Expr>> list;
  for (const ExprSpec& e : specs) list.push_back(write(b, e));
  return b.CreateVector(list);
}

fb::Offset<wire::Symbol> write(fb::FlatBufferBuilder& b, const SymbolSpec& s) {
  return wire::CreateSymbol(b, b.CreateString(s.name), s.min, s.max, s.divisor, s.hint);
}

fb::Offset<wire::Attr> write(fb::FlatBufferBuilder& b, const AttrSpec& a) {
  const auto name = b.CreateString(a.name);
  fb::Offset<void> value;
  switch (a.kind) {
    case wire::AttrValue::IntsValue:
      value = wire::CreateIntsValue(b, b.CreateVector(a.list)).Union();
      break;
    case wire::AttrValue::DtypeValue:
      value = wire::CreateDtypeValue(b, static_cast<wire::Dtype>(a.value)).Union();
      break;
    case wire::AttrValue::ExprsValue:
      value = wire::CreateExprsValue(b, write_exprs(b, a.exprs), a.value != 0).Union();
      break;
    default:
      value = wire::CreateIntValue(b, a.value).Union();
  }
  return wire::CreateAttr(b, name, a.kind, value);
}

fb::Offset<swgr::Node> write(fb::FlatBufferBuilder& b, const NodeSpec& n) {
  std::vector<fb::Offset<wire::Attr>> attrs;
  for (const AttrSpec& a : n.attrs) attrs.push_back(write(b, a));
  const auto op = b.CreateString(n.op), name = b.CreateString(n.name);
  const auto operands = b.CreateVector(n.operands), results = b.CreateVector(n.results);
  const auto fb_attrs = b.CreateVector(attrs);
  const auto meta = swgr::CreateMeta(b, static_cast<swgr::Phase>(n.phase),
                                     static_cast<swgr::Recompute>(n.recompute));
  return swgr::CreateNode(b, op, name, operands, fb_attrs, results, n.is_tuple, meta);
}

fb::Offset<wire::TensorType> write(fb::FlatBufferBuilder& b, const TypeSpec& t) {
  const auto dims = b.CreateVector(t.dims);
  fb::Offset<fb::Vector<int64_t>> strides;
  if (!t.strides.empty()) strides = b.CreateVector(t.strides);
  fb::Offset<fb::Vector<fb::Offset<wire::Expr>>> exprs;
  if (!t.sizes.empty()) exprs = write_exprs(b, t.sizes);
  return wire::CreateTensorType(b, dims, strides, static_cast<wire::Dtype>(t.dtype), exprs);
}

fb::Offset<swgr::Input> write(fb::FlatBufferBuilder& b, const InputSpec& in) {
  const auto name = b.CreateString(in.name);
  fb::Offset<fb::Vector<uint8_t>> data;
  if (!in.data.empty()) data = b.CreateVector(in.data);
  return swgr::CreateInput(b, in.node, static_cast<swgr::InputRole>(in.role), name, -1,
                           static_cast<swgr::InputStorage>(in.storage), data);
}

fb::Offset<swgr::Output> write(fb::FlatBufferBuilder& b, const OutputSpec& out) {
  const auto name = b.CreateString(out.name);
  return swgr::CreateOutput(b, out.node, static_cast<swgr::OutputRole>(out.role), name,
                            out.of_input, out.in_place);
}

fb::Offset<swgr::EntryPoint> write(fb::FlatBufferBuilder& b, const EntrySpec& e) {
  const auto name = b.CreateString(e.name);
  const auto inputs = b.CreateVector(e.inputs), outputs = b.CreateVector(e.outputs);
  const auto after = b.CreateVector(e.after);
  return swgr::CreateEntryPoint(b, name, e.weight, inputs, outputs, after);
}

template <class Spec>
auto write_all(fb::FlatBufferBuilder& b, const std::vector<Spec>& specs) {
  std::vector<decltype(write(b, specs[0]))> offsets;
  for (const Spec& s : specs) offsets.push_back(write(b, s));
  return b.CreateVector(offsets);
}

// An entry with all inputs and outputs.
EntrySpec whole(const GraphFile& file) {
  EntrySpec e{.name = "step"};
  for (uint32_t i = 0; i < file.inputs.size(); ++i)
    if (file.inputs[i].role != 7 && file.inputs[i].storage == 0) e.inputs.push_back(i);
  for (uint32_t i = 0; i < file.outputs.size(); ++i) e.outputs.push_back(i);
  return e;
}

}  // namespace

std::vector<uint8_t> GraphFile::bytes() const {
  fb::FlatBufferBuilder b;
  const auto fb_types = write_all(b, types);
  const auto fb_nodes = write_all(b, nodes);
  const auto fb_inputs = write_all(b, inputs);
  const auto fb_outputs = write_all(b, outputs);
  const auto fb_entries = write_all(
      b, entries.empty() ? std::vector<EntrySpec>(num_entry_points, whole(*this)) : entries);
  fb::Offset<fb::Vector<fb::Offset<wire::Symbol>>> fb_symbols;
  if (!symbols.empty()) fb_symbols = write_all(b, symbols);
  b.Finish(swgr::CreateGraph(b, format_version, 0, fb_types, fb_nodes, fb_inputs, fb_outputs,
                             fb_entries, fb_symbols),
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
