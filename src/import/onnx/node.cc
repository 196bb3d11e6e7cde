#include "import/onnx/node.h"

#include <algorithm>

#include "graph/reader.h"
#include "import/onnx/arithmetic.h"
#include "support/quoted.h"

namespace shw::import::onnx {
namespace {

// Values that are not trained become constants of the graph.
bool is_constant(const Known& known, size_t constants_so_far) {
  const auto bytes = static_cast<size_t>(known.type.bytes());
  return !is_floating(known.type.dtype) && bytes <= GraphLimits().max_constant_bytes &&
         constants_so_far + bytes <= GraphLimits().max_data_bytes;
}

// A name that no other constant or parameter has.
std::string unique_name(Scope& scope, const std::string& name) {
  std::string unique = name.empty() ? "constant" : name;
  for (int i = 1; !scope.names.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

// A single number is created where it is used. A run in another type, as in verification, then has
// it in that type.
NodeId full_of(Emitter& emit, const Known& known) {
  const std::vector<int64_t> size(known.type.shape.begin(), known.type.shape.end());
  return emit.add(OpKind::kFull, {},
                  {{AttrKey::kSize, size},
                   {AttrKey::kFillValue, number_at(known, 0)},
                   {AttrKey::kDtype, known.type.dtype}});
}

// Sizes with symbols, as a tensor made of one scalar each.
NodeId tensor_of_sizes(Emitter& emit, const Sizes& sizes) {
  std::vector<NodeId> each;
  for (const Expr& e : sizes.items)
    each.push_back(emit.add(OpKind::kScalarTensor, {},
                            {{AttrKey::kFillValue, e}, {AttrKey::kDtype, sizes.dtype}}));
  if (sizes.shape.empty() && each.size() == 1) return each[0];
  const NodeId list = emit.add(OpKind::kStack, each, {{AttrKey::kDim, 0}});
  if (sizes.shape.size() == 1) return list;
  std::vector<int64_t> shape(sizes.shape.begin(), sizes.shape.end());
  return emit.add(OpKind::kView, {list}, {{AttrKey::kSize, std::move(shape)}});
}

}  // namespace

NodeId node_of(Scope& scope, Value& value) {
  Emitter& emit = scope.emit;
  if (value.node.valid() || !emit.status().ok()) return value.node;
  if (!value.known) return value.node = tensor_of_sizes(emit, *value.sizes);
  if (is_floating(value.known->type.dtype) && value.known->type.numel() == 1)
    return value.node = full_of(emit, *value.known);
  InputInfo info{.name = unique_name(scope, value.name)};
  if (is_constant(*value.known, scope.constant_bytes)) {
    scope.constant_bytes += value.known->bytes->size();
    info.role = InputRole::kConstant;
    info.data = value.known->bytes;
  } else {
    info.role = InputRole::kParameter;
    scope.parameters.emplace(emit.graph().full_name(info),
                             StoredTensor{value.known->type, *value.known->bytes});
  }
  value.node = emit.input(value.known->type, {}, std::move(info));
  return value.node;
}

// ---- inputs

Value* Node::value(size_t i) {
  if (!ok() || !has(i)) return nullptr;
  const auto it = scope_.values.find(proto_.input(static_cast<int>(i)));
  if (it != scope_.values.end()) return &it->second;
  fail(invalid_argument("input " + quoted(proto_.input(static_cast<int>(i))) +
                        " is computed by no node before this one"));
  return nullptr;
}

Value* Node::required(size_t i) {
  if (ok() && !has(i)) fail(invalid_argument("input " + std::to_string(i) + " is missing"));
  return value(i);
}

NodeId Node::in(size_t i) {
  Value* v = required(i);
  return v == nullptr ? kNoNode : node_of(scope_, *v);
}

const Known* Node::known(size_t i) {
  const Value* v = value(i);
  return v != nullptr && v->known ? &*v->known : nullptr;
}

Exprs Node::sizes(size_t i, const char* what) {
  const Value* v = required(i);
  if (v == nullptr) return {};
  if (auto sizes = sizes_of(*v)) return std::move(sizes->items);
  fail(unimplemented(std::string(what) + " must be known when the model is imported, but " +
                     (v->is_graph_input
                          ? quoted(v->name) + " is an input of the model: give it as a constant"
                          : quoted(v->name) + " is computed at run time")));
  return {};
}

std::vector<int64_t> Node::ints(size_t i, const char* what) {
  const Exprs all = sizes(i, what);
  if (has_symbols(all))
    fail(unimplemented(std::string(what) + " holds symbols, which is not supported"));
  std::vector<int64_t> numbers;
  for (const Expr& e : all) numbers.push_back(e.constant);
  return numbers;
}

double Node::number(size_t i, const char* what) {
  const Value* v = required(i);
  if (v == nullptr) return 0;
  if (v->known && v->known->type.numel() == 1) return number_at(*v->known, 0);
  if (v->known)
    fail(invalid_argument(std::string(what) + " is not one number"));
  else
    (void)sizes(i, what);
  return 0;
}

int64_t Node::integer(size_t i, const char* what) {
  constexpr double kMost = 9007199254740992;  // beyond 2^53 a float is no exact integer
  const double x = number(i, what);
  const Known* tensor = known(i);
  if (!ok() || tensor == nullptr) return 0;
  if (!is_floating(tensor->type.dtype)) return integer_at(*tensor, 0);
  if (x >= -kMost && x <= kMost) return static_cast<int64_t>(x);
  fail(invalid_argument(std::string(what) + " is no integer"));
  return 0;
}

Operand Node::operand(size_t i, size_t other) {
  const Known* mine = known(i);
  if (mine == nullptr || mine->type.numel() != 1 || known(other) != nullptr ||
      mine->type.rank() > rank(in(other)) || mine->type.dtype == Dtype::kBool ||
      is_complex(mine->type.dtype))
    return in(i);
  if (is_floating(mine->type.dtype)) return number_at(*mine, 0);
  return integer_at(*mine, 0);
}

// ---- attributes

const AttributeProto* Node::find(std::string_view name) const {
  for (const AttributeProto& a : proto_.attribute())
    if (a.name() == name) return &a;
  return nullptr;
}

const AttributeProto* Node::attr_any(std::string_view name) {
  read_.insert(std::string(name));
  return find(name);
}

const AttributeProto* Node::typed(std::string_view name, AttributeProto::Type type) {
  const AttributeProto* a = attr_any(name);
  if (a == nullptr) return nullptr;
  if (a->type() == type) return a;
  fail(invalid_argument("attribute " + quoted(name) + " is of the wrong type"));
  return nullptr;
}

int64_t Node::attr(std::string_view name, int64_t otherwise) {
  const AttributeProto* a = typed(name, AttributeProto::INT);
  return a == nullptr ? otherwise : a->i();
}
double Node::attr(std::string_view name, double otherwise) {
  const AttributeProto* a = typed(name, AttributeProto::FLOAT);
  return a == nullptr ? otherwise : static_cast<double>(a->f());
}
std::string Node::attr(std::string_view name, const char* otherwise) {
  const AttributeProto* a = typed(name, AttributeProto::STRING);
  return a == nullptr ? otherwise : a->s();
}
std::vector<int64_t> Node::attr_ints(std::string_view name, std::vector<int64_t> otherwise) {
  const AttributeProto* a = typed(name, AttributeProto::INTS);
  if (a == nullptr) return otherwise;
  return {a->ints().begin(), a->ints().end()};
}
const TensorProto* Node::attr_tensor(std::string_view name) {
  const AttributeProto* a = typed(name, AttributeProto::TENSOR);
  return a == nullptr ? nullptr : &a->t();
}

void Node::require(std::string_view name) {
  if (!has_attr(name)) fail(invalid_argument("attribute " + quoted(name) + " is missing"));
}

void Node::check_all_read() {
  for (const AttributeProto& a : proto_.attribute())
    if (ok() && !read_.contains(a.name()))
      fail(unimplemented("attribute " + quoted(a.name()) + " is not supported here"));
}

// ---- axes

size_t Node::axis(int64_t axis, int64_t rank) {
  const int64_t from_front = axis < 0 ? axis + rank : axis;
  if (from_front >= 0 && from_front < rank) return static_cast<size_t>(from_front);
  if (ok())
    fail(invalid_argument("axis " + std::to_string(axis) + " does not exist: the tensor has " +
                          std::to_string(rank) + " dims"));
  return 0;
}

std::vector<int64_t> Node::axes(const std::vector<int64_t>& given, int64_t rank) {
  std::vector<int64_t> front;
  for (int64_t a : given) {
    front.push_back(static_cast<int64_t>(axis(a, rank)));
    if (ok() && std::count(front.begin(), front.end(), front.back()) > 1)
      fail(invalid_argument("axis " + std::to_string(a) + " is given twice"));
  }
  return front;
}

std::vector<int64_t> Node::axes_given(int64_t since, int64_t rank) {
  if (opset() < since) return axes(attr_ints("axes"), rank);
  return has(1) ? axes(ints(1, "the axes"), rank) : std::vector<int64_t>();
}

// ---- the graph

NodeId Node::binary(OpKind op, Operand a, Operand b) {
  Args args;
  if (a.number) args.emplace_back(AttrKey::kSelf, *a.number);
  if (b.number) args.emplace_back(AttrKey::kOther, *b.number);
  return add(op, {a.node, b.node}, std::move(args));
}

NodeId Node::constant(const std::vector<int64_t>& values, const Dims& shape) {
  Value value{.name = scope_.emit.name(), .known = known_integers(values, shape, Dtype::kI64)};
  return ok() ? node_of(scope_, value) : kNoNode;
}

NodeId Node::cast(NodeId x, Dtype dtype) {
  if (!ok() || type(x).dtype == dtype) return x;
  return add(OpKind::kConvertElementType, {x}, {{AttrKey::kDtype, dtype}});
}

NodeId Node::along(NodeId x, size_t axis, int64_t rank) {
  const auto behind = rank - 1 - static_cast<int64_t>(axis);
  if (!ok() || behind <= 0 || this->rank(x) == 0) return x;
  if (this->rank(x) != 1) {
    fail(invalid_argument("expected a tensor of one dim, not " + to_string(type(x))));
    return x;
  }
  Exprs size = emit().sizes(x);
  for (int64_t i = 0; i < behind; ++i) size.push_back({1, {}});
  return view(x, std::move(size));
}

// ---- outputs

void Node::out(NodeId node, size_t i) {
  if (!ok()) return;
  if (node.valid() && emit().graph().is_tuple(node)) node = emit().element(node, 0);
  out(Value{.node = node}, i);
}

void Node::out(Value value, size_t i) {
  if (!ok() || !wants(i)) return;
  const std::string& name = proto_.output(static_cast<int>(i));
  value.name = name;
  if (!scope_.values.emplace(name, std::move(value)).second)
    fail(invalid_argument("value " + quoted(name) + " is defined twice"));
}

}  // namespace shw::import::onnx
