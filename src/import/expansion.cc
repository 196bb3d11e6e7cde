#include "import/expansion.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "ops/families.h"
#include "rewrite/verify.h"

namespace shw::import {
namespace {

int kind_of(Dtype d) {
  if (is_complex(d)) return 3;
  return is_floating(d) ? 2 : d != Dtype::kBool;
}

// Whether the operation computes in the common dtype of its operands.
bool promotes(OpKind op) {
  switch (op) {
    case OpKind::kAdd:
    case OpKind::kSub:
    case OpKind::kMul:
    case OpKind::kDiv:
    case OpKind::kMaximum:
    case OpKind::kMinimum:
    case OpKind::kRemainder:
    case OpKind::kFloorDivide:
    case OpKind::kPowTensor:
    case OpKind::kAtan2:
    case OpKind::kBitwiseAnd:
    case OpKind::kBitwiseOr:
    case OpKind::kWhere:
    case OpKind::kEq:
    case OpKind::kNe:
    case OpKind::kLt:
    case OpKind::kLe:
    case OpKind::kGt:
    case OpKind::kGe:
      return true;
    default:
      return false;
  }
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

void convert_scalars(Graph& graph, OpKind op, std::span<NodeId> operands, const std::string& name,
                     const NodeMeta& meta) {
  if (!promotes(op)) return;
  if (op == OpKind::kWhere && !operands.empty()) operands = operands.subspan(1);
  std::optional<Dtype> with_dims, without;
  for (NodeId o : operands) {
    if (!o.valid() || graph.is_tuple(o)) continue;
    const TensorType& t = graph.type(o);
    std::optional<Dtype>& d = t.rank() > 0 ? with_dims : without;
    d = d ? ops::promote(*d, t.dtype) : t.dtype;
  }
  if (!with_dims || !without || kind_of(*without) > kind_of(*with_dims)) return;
  for (NodeId& o : operands) {
    if (!o.valid() || graph.is_tuple(o)) continue;
    const TensorType type = graph.type(o);
    if (type.rank() > 0 || type.dtype == *with_dims) continue;
    Attrs attrs;
    attrs.set(AttrKey::kDtype, *with_dims);
    o = graph.add_node(OpKind::kConvertElementType, name + ".scalar", {o}, std::move(attrs),
                       row_major(*with_dims, Dims{}), meta);
  }
}

// Reads one text and adds its nodes. After a failure it continues to read, without effect.
class ExpansionParser {
 public:
  using Argument = std::pair<std::string_view, ExpansionValue>;

  ExpansionParser(Expansion& e, std::string_view text) : e_(e), text_(text) {}

  // Returns the values of the last statement. `finishes`: they are the results of the call.
  std::vector<ExpansionValue> run(bool finishes) {
    for (std::string_view name; !(name = assigned()).empty();) {
      e_.bind(name, expression());
      want(';');
    }
    std::vector<ExpansionValue> values;
    const bool are_several = take('(');
    is_last_ = finishes && !are_several;
    do values.push_back(expression());
    while (are_several && take(','));
    if (are_several) want(')');
    skip();
    if (!text_.empty()) wrong();
    return values;
  }

 private:
  ExpansionValue wrong() {
    if (e_.ok())
      e_.fail(internal_error("a decomposition cannot be read at '" + std::string(text_) + "'"));
    text_ = {};
    return {};
  }
  void skip() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }
  bool take(char c) {
    skip();
    const bool is_next = text_.starts_with(c);
    if (is_next) text_.remove_prefix(1);
    return is_next;
  }
  void want(char c) {
    if (!take(c)) wrong();
  }
  std::string_view word() {
    skip();
    size_t n = 0;
    while (n < text_.size() && is_name(text_[n])) ++n;
    const std::string_view w = text_.substr(0, n);
    text_.remove_prefix(n);
    return w;
  }
  // The name before '='; none if the statement is a value.
  std::string_view assigned() {
    const std::string_view before = text_;
    const std::string_view name = word();
    if (!name.empty() && take('=')) return name;
    text_ = before;
    return {};
  }

  ExpansionValue expression() {
    skip();
    if (text_.empty() || !e_.ok()) return wrong();
    if (take('[')) return list();
    if (text_[0] == '-' || (text_[0] >= '0' && text_[0] <= '9')) return number();
    const std::string_view name = word();
    if (take('(')) return call(name);
    for (const auto& [n, value] : e_.names_)
      if (n == name) return value.node.valid() ? element(value.node) : value;
    if (name == "none") return {};
    if (name == "true" || name == "false") return AttrValue(name == "true");
    if (name == "inf") return AttrValue(std::numeric_limits<double>::infinity());
    if (const auto dtype = dtype_from_name(name)) return AttrValue(*dtype);
    return wrong();
  }

  ExpansionValue number() {
    const bool negative = take('-');
    size_t n = 0;
    while (n < text_.size() && (is_name(text_[n]) || text_[n] == '.')) ++n;
    const std::string_view digits = text_.substr(0, n);
    text_.remove_prefix(n);
    double d = std::numeric_limits<double>::infinity();
    int64_t i = 0;
    const char* end = digits.data() + digits.size();
    if (digits != "inf" && digits.find('.') == digits.npos) {
      std::from_chars(digits.data(), end, i);
      return AttrValue(negative ? -i : i);
    }
    if (digits != "inf") std::from_chars(digits.data(), end, d);
    return AttrValue(negative ? -d : d);
  }

  // A list of tensors or of integers.
  ExpansionValue list() {
    std::vector<NodeId> nodes;
    std::vector<int64_t> ints;
    while (!take(']') && !text_.empty()) {
      const ExpansionValue v = expression();
      if (v.node.valid()) nodes.push_back(v.node);
      if (v.attr)
        if (const int64_t* i = std::get_if<int64_t>(&*v.attr)) ints.push_back(*i);
      take(',');
    }
    if (nodes.empty()) return AttrValue(std::move(ints));
    return nodes;
  }

  ExpansionValue call(std::string_view name) {
    const bool is_last = std::exchange(is_last_, false);
    std::vector<Argument> args;
    while (!take(')') && !text_.empty()) {
      const std::string_view key = assigned();
      args.emplace_back(key, expression());
      take(',');
    }
    if (!e_.ok()) return {};
    const std::optional<OpKind> op = op_from_name(name);
    if (!op) return measure(name, args);
    std::vector<NodeId> operands;
    Attrs attrs;
    assign(op_def(*op), args, operands, attrs);
    return element(
        e_.emit(*op, std::move(operands), std::move(attrs), is_last && !text_.starts_with('.')));
  }

  // The tuple element that the text selects next; without a selection, the value itself.
  ExpansionValue element(NodeId tuple) {
    if (!text_.starts_with('.')) return tuple;
    text_.remove_prefix(1);
    const std::string_view place = word();
    Attrs attrs;
    attrs.set(AttrKey::kIndex, static_cast<int64_t>(place.empty() ? 0 : place[0] - '0'));
    return e_.emit(OpKind::kGetItem, {tuple}, std::move(attrs), false);
  }

  // Functions of a tensor's type, which is known before the graph runs.
  ExpansionValue measure(std::string_view name, std::span<const Argument> args) {
    if (args.empty() || !args[0].second.node.valid()) return wrong();
    const TensorType& t = e_.graph_.type(args[0].second.node);
    if (name == "dtype") return AttrValue(t.dtype);
    if (name == "sizes") return AttrValue(std::vector<int64_t>(t.shape.begin(), t.shape.end()));
    const int64_t* d = args.size() < 2 || !args[1].second.attr
                           ? nullptr
                           : std::get_if<int64_t>(&*args[1].second.attr);
    if (d == nullptr || *d < -t.rank() || *d >= t.rank()) return wrong();
    const int64_t size = t.shape[static_cast<size_t>(*d < 0 ? *d + t.rank() : *d)];
    return AttrValue(name == "half" ? size / 2 : size);
  }

  void assign(const OpDef& def, std::span<const Argument> args, std::vector<NodeId>& operands,
              Attrs& attrs) {
    size_t next = 0;
    static const ExpansionValue kAbsent;
    for (size_t k = 0; k < def.params.size(); ++k) {
      const ExpansionValue* given = &kAbsent;
      for (size_t i = 0; i < args.size(); ++i)
        if (args[i].first.empty() ? i == k : args[i].first == def.params[k].name)
          given = &args[i].second, ++next;
      set(def.params[k], *given, operands, attrs);
    }
    if (next != args.size()) wrong();
  }

  static void set(const Param& p, const ExpansionValue& given, std::vector<NodeId>& operands,
                  Attrs& attrs) {
    if (p.kind == ParamKind::kTensor || p.kind == ParamKind::kOptionalTensor ||
        p.kind == ParamKind::kTensorOrScalar || given.node.valid())
      operands.push_back(given.node);
    operands.insert(operands.end(), given.nodes.begin(), given.nodes.end());
    const auto key = attr_key_from_name(p.name);
    if (!given.attr || !key) return;
    const int64_t* i = std::get_if<int64_t>(&*given.attr);
    attrs.set(*key, p.kind == ParamKind::kInts && i != nullptr ? AttrValue(std::vector<int64_t>{*i})
                                                               : *given.attr);
  }

  Expansion& e_;
  std::string_view text_;
  bool is_last_ = false;
};

ExpansionValue::ExpansionValue(const ExpansionValue& other) = default;
ExpansionValue::ExpansionValue(ExpansionValue&& other) noexcept = default;
ExpansionValue::~ExpansionValue() = default;
ExpansionValue& ExpansionValue::operator=(ExpansionValue other) noexcept {
  node = other.node;
  nodes.swap(other.nodes);
  attr.swap(other.attr);
  return *this;
}

void Expansion::bind(std::string_view name, ExpansionValue value) {
  for (auto& [n, v] : names_)
    if (n == name) {
      v = std::move(value);
      return;
    }
  names_.emplace_back(name, std::move(value));
}

void Expansion::bind_int(std::string_view name, int64_t value) { bind(name, AttrValue(value)); }
void Expansion::bind_number(std::string_view name, double value) { bind(name, AttrValue(value)); }
void Expansion::bind_ints(std::string_view name, const Dims& value) {
  bind(name, AttrValue(std::vector<int64_t>(value.begin(), value.end())));
}

NodeId Expansion::fail(Status status) {
  if (ok()) status_ = std::move(status);
  return kNoNode;
}

std::string_view Expansion::refuse(const char* why) {
  fail(unimplemented(why));
  return {};
}

void Expansion::run(std::string_view text) {
  if (!ok()) return;
  bind("it", std::move(ExpansionParser(*this, text).run(false).front()));
}

Result<std::vector<NodeId>> Expansion::finish(std::string_view text) {
  std::vector<NodeId> nodes;
  if (ok()) {
    const std::vector<ExpansionValue> values = ExpansionParser(*this, text).run(true);
    for (size_t i = 0; ok() && i < values.size(); ++i)
      nodes.push_back(as_recorded(values[i].node, i));
  }
  if (!ok()) return status_;
  return nodes;
}

NodeId Expansion::add(OpKind op, std::vector<NodeId> operands, Attrs attrs, std::string name) {
  if (!ok()) return kNoNode;
  convert_scalars(graph_, op, operands, name, meta_);
  const auto types = infer_results(graph_, op, operands, attrs);
  if (!types.ok()) return fail(types.status());
  const bool is_tuple = types->size() != 1 || op == OpKind::kSplit ||
                        op == OpKind::kSplitWithSizes || op == OpKind::kUnbind;
  return graph_.add_node(op, std::move(name), operands, std::move(attrs), *types, is_tuple, meta_);
}

// The node that returns the call's result gets the call's name. If its dtype differs from the
// recorded one, as_recorded() converts it.
NodeId Expansion::emit(OpKind op, std::vector<NodeId> operands, Attrs attrs, bool is_last) {
  const bool is_result = is_last && results_.size() == 1;
  return add(op, std::move(operands), std::move(attrs),
             is_result ? name_ : name_ + "." + std::to_string(added_++));
}

NodeId Expansion::as_recorded(NodeId value, size_t place) {
  // A later use of a result that is not computed fails because of the missing operand.
  if (place >= results_.size() || !results_[place] || !value.valid()) return kNoNode;
  if (graph_.is_tuple(value)) return fail(internal_error("a decomposition returns a tuple"));
  const TensorType wanted = *results_[place], type = graph_.type(value);
  // A placeholder without elements.
  if (type.shape != wanted.shape && wanted.numel() == 0) return kNoNode;
  if (type.shape != wanted.shape)
    return fail(invalid_argument("result " + std::to_string(place) + " is recorded as " +
                                 to_string(wanted) + " but is " + to_string(type)));
  if (type.dtype == wanted.dtype) return value;
  Attrs attrs;
  attrs.set(AttrKey::kDtype, wanted.dtype);
  return emit(OpKind::kConvertElementType, {value}, std::move(attrs), false);
}

Dims Expansion::result_shape() const {
  return results_.empty() || !results_[0] ? Dims() : results_[0]->shape;
}

const ExpansionValue& Expansion::at(std::string_view name) const {
  static const ExpansionValue kAbsent;
  for (const auto& [n, value] : names_)
    if (n == name) return value;
  return kAbsent;
}

NodeId Expansion::node(std::string_view name) const { return at(name).node; }

const TensorType& Expansion::type(std::string_view name) const {
  static const TensorType kNone;
  const NodeId n = node(name);
  return n.valid() && !graph_.is_tuple(n) ? graph_.type(n) : kNone;
}

TensorType Expansion::recorded(std::string_view name) const {
  for (const auto& [n, t] : recorded_)
    if (n == name) return t;
  return type(name);
}

NodeId Expansion::unrounded(std::string_view name, OpKind producer) const {
  const NodeId n = node(name);
  if (!n.valid() || graph_.op(n) != OpKind::kConvertElementType) return n;
  const NodeId element = graph_.operands(n)[0];
  const bool is_result =
      graph_.op(element) == OpKind::kGetItem && graph_.op(graph_.operands(element)[0]) == producer;
  return is_result ? element : n;
}

namespace {
// No tensor has more elements, and sums and products of values within this limit do not overflow.
int64_t bounded(int64_t i) {
  constexpr int64_t kMost = int64_t{1} << 60;
  return std::clamp(i, -kMost, kMost);
}

const AttrValue* attribute(const ExpansionValue& v) { return v.attr ? &*v.attr : nullptr; }
}  // namespace

int64_t Expansion::get_int(std::string_view name, int64_t otherwise) const {
  const AttrValue* v = attribute(at(name));
  const int64_t* i = v == nullptr ? nullptr : std::get_if<int64_t>(v);
  return i == nullptr ? otherwise : bounded(*i);
}

double Expansion::get_number(std::string_view name, double otherwise) const {
  const AttrValue* v = attribute(at(name));
  const double* d = v == nullptr ? nullptr : std::get_if<double>(v);
  return d != nullptr ? *d : has(name) ? static_cast<double>(get_int(name, 0)) : otherwise;
}

bool Expansion::get_bool(std::string_view name, bool otherwise) const {
  const AttrValue* v = attribute(at(name));
  const bool* b = v == nullptr ? nullptr : std::get_if<bool>(v);
  return b == nullptr ? otherwise : *b;
}

Dims Expansion::get_ints(std::string_view name) const {
  const AttrValue* v = attribute(at(name));
  if (v == nullptr) return {};
  const auto* list = std::get_if<std::vector<int64_t>>(v);
  if (list != nullptr) {
    Dims dims = list->size() <= kMaxRank ? Dims(*list) : Dims();
    for (int64_t& d : dims) d = bounded(d);
    return dims;
  }
  const int64_t* i = std::get_if<int64_t>(v);
  return i == nullptr ? Dims() : Dims{bounded(*i)};
}

std::string Expansion::get_string(std::string_view name) const {
  const AttrValue* v = attribute(at(name));
  const auto* s = v == nullptr ? nullptr : std::get_if<std::string>(v);
  return s == nullptr ? std::string() : *s;
}

}  // namespace shw::import
