#include "tensor/wire.h"

#include <string>

namespace shw::wire {

namespace fb = flatbuffers;

namespace {

// Accepts any terms; check_expr() checks their order and symbols.
Result<shw::Expr> read_expr(const Expr& in) {
  const std::vector<uint32_t> symbols = copy(in.symbols());
  const std::vector<int64_t> factors = copy(in.factors());
  if (symbols.size() != factors.size() || symbols.size() > kMaxSymbols)
    return invalid_argument("an expression of " + std::to_string(symbols.size()) +
                            " symbols with " + std::to_string(factors.size()) + " factors");
  shw::Expr expr{in.constant(), {}};
  for (size_t i = 0; i < symbols.size(); ++i) expr.terms.emplace_back(symbols[i], factors[i]);
  return expr;
}

Result<Exprs> read_exprs(const fb::Vector<fb::Offset<Expr>>* in) {
  Exprs exprs;
  for (fb::uoffset_t i = 0; i < count(in); ++i) {
    SHW_ASSIGN_OR_RETURN(exprs.emplace_back(), read_expr(*in->Get(i)));
  }
  return exprs;
}

fb::Offset<fb::Vector<fb::Offset<Expr>>> write_exprs(fb::FlatBufferBuilder& b,
                                                     std::span<const shw::Expr> exprs) {
  std::vector<fb::Offset<Expr>> list;
  for (const shw::Expr& e : exprs) {
    std::vector<uint32_t> symbols;
    std::vector<int64_t> factors;
    for (const auto& [symbol, factor] : e.terms)
      symbols.push_back(symbol), factors.push_back(factor);
    fb::Offset<fb::Vector<uint32_t>> fb_symbols;
    fb::Offset<fb::Vector<int64_t>> fb_factors;
    if (!e.is_number()) fb_symbols = b.CreateVector(symbols), fb_factors = b.CreateVector(factors);
    list.push_back(CreateExpr(b, e.constant, fb_symbols, fb_factors));
  }
  return b.CreateVector(list);
}

// The numbers at the hints.
Result<shw::AttrValue> value_at(const AttrExprs& exprs, std::span<const int64_t> hints) {
  std::vector<int64_t> numbers;
  for (const shw::Expr& e : exprs.exprs) {
    SHW_RETURN_IF_ERROR(check_expr(e, hints.size()));
    const auto value = value_of(e, hints);
    if (!value) return invalid_argument("at the hints its value is too large");
    numbers.push_back(*value);
  }
  shw::AttrValue value;
  if (exprs.is_list) {
    value.emplace<std::vector<int64_t>>(std::move(numbers));
  } else {
    if (numbers.size() != 1) return invalid_argument("one integer has one expression");
    value = numbers[0];
  }
  return value;
}

}  // namespace

Result<shw::TensorType> read_type(const TensorType& in, Exprs* sizes) {
  const fb::uoffset_t rank = count(in.shape());
  if (rank > static_cast<fb::uoffset_t>(kMaxRank))
    return invalid_argument("the tensor has " + std::to_string(rank) +
                            " dims, more than the limit of " + std::to_string(kMaxRank));
  if (in.strides() != nullptr && in.strides()->size() != rank)
    return invalid_argument("the type has " + std::to_string(rank) + " dims but " +
                            std::to_string(in.strides()->size()) + " strides");
  const auto number = static_cast<int64_t>(in.dtype());
  const auto dtype = dtype_from_number(number);
  if (!dtype) return invalid_argument("unknown dtype number " + std::to_string(number));
  shw::TensorType type;
  type.dtype = *dtype;
  type.shape = Dims(copy(in.shape()));
  type.strides = in.strides() != nullptr ? Dims(copy(in.strides())) : row_major_strides(type.shape);
  SHW_RETURN_IF_ERROR(check_tensor_type(type));
  SHW_ASSIGN_OR_RETURN(Exprs exprs, read_exprs(in.shape_exprs()));
  if (!exprs.empty() && exprs.size() != rank)
    return invalid_argument("the type has " + std::to_string(rank) + " dims but " +
                            std::to_string(exprs.size()) + " expressions");
  if (sizes == nullptr && has_symbols(exprs))
    return invalid_argument("its sizes depend on symbols, where only numbers may stand");
  if (sizes != nullptr && has_symbols(exprs)) *sizes = std::move(exprs);
  return type;
}

Result<std::vector<shw::Symbol>> read_symbols(const fb::Vector<fb::Offset<Symbol>>* in) {
  if (count(in) > kMaxSymbols)
    return invalid_argument("there are " + std::to_string(count(in)) +
                            " symbols, more than the limit of " + std::to_string(kMaxSymbols));
  std::vector<shw::Symbol> symbols;
  for (fb::uoffset_t i = 0; i < count(in); ++i) {
    const Symbol& s = *in->Get(i);
    const int64_t hint = s.hint() == 0 && s.min() > 0 ? s.max() : s.hint();
    symbols.push_back({s.name()->str(), s.min(), s.max(), s.divisor(), hint});
  }
  SHW_RETURN_IF_ERROR(check_symbols(symbols));
  return symbols;
}

fb::Offset<fb::Vector<fb::Offset<Symbol>>> write_symbols(fb::FlatBufferBuilder& b,
                                                         std::span<const shw::Symbol> symbols) {
  if (symbols.empty()) return {};
  std::vector<fb::Offset<Symbol>> list;
  for (const shw::Symbol& s : symbols)
    list.push_back(CreateSymbol(b, b.CreateString(s.name), s.min, s.max, s.divisor, s.hint));
  return b.CreateVector(list);
}

Result<shw::AttrValue> read_value(const Attr& attr, std::span<const int64_t> hints,
                                  AttrExprs* exprs) {
  shw::AttrValue value;
  switch (attr.value_type()) {
    case AttrValue::IntValue:
      value = int64_t{attr.value_as_IntValue()->value()};
      break;
    case AttrValue::FloatValue:
      value = attr.value_as_FloatValue()->value();
      break;
    case AttrValue::BoolValue:
      value = attr.value_as_BoolValue()->value();
      break;
    case AttrValue::DtypeValue: {
      const auto number = static_cast<int64_t>(attr.value_as_DtypeValue()->value());
      const auto dtype = dtype_from_number(number);
      if (!dtype) return invalid_argument("unknown dtype number " + std::to_string(number));
      value = *dtype;
      break;
    }
    case AttrValue::IntsValue:
      value.emplace<std::vector<int64_t>>(copy(attr.value_as_IntsValue()->value()));
      break;
    case AttrValue::StringValue: {
      const fb::String* s = attr.value_as_StringValue()->value();
      value.emplace<std::string>(s == nullptr ? std::string() : s->str());
      break;
    }
    case AttrValue::ExprsValue: {
      if (exprs == nullptr)
        return invalid_argument("its value depends on symbols, where only numbers may stand");
      exprs->is_list = attr.value_as_ExprsValue()->is_list();
      SHW_ASSIGN_OR_RETURN(exprs->exprs, read_exprs(attr.value_as_ExprsValue()->value()));
      return value_at(*exprs, hints);
    }
    default:
      return invalid_argument("a value of unknown kind " +
                              std::to_string(static_cast<int>(attr.value_type())));
  }
  return value;
}

fb::Offset<TensorType> write_type(fb::FlatBufferBuilder& b, const shw::TensorType& type,
                                  std::span<const shw::Expr> sizes) {
  const auto dims = [&](const Dims& d) { return b.CreateVector(d.begin(), d.size()); };
  fb::Offset<fb::Vector<int64_t>> shape, strides;
  if (!type.shape.empty()) shape = dims(type.shape);
  if (type.strides != row_major_strides(type.shape)) strides = dims(type.strides);
  fb::Offset<fb::Vector<fb::Offset<Expr>>> exprs;
  if (!sizes.empty()) exprs = write_exprs(b, sizes);
  return CreateTensorType(b, shape, strides, static_cast<Dtype>(type.dtype), exprs);
}

fb::Offset<Attr> write_attr(fb::FlatBufferBuilder& b, AttrKey key, const AttrExprs& value) {
  const auto name = b.CreateSharedString(attr_key_name(key).data(), attr_key_name(key).size());
  const auto exprs = write_exprs(b, value.exprs);
  return CreateAttr(b, name, AttrValue::ExprsValue,
                    CreateExprsValue(b, exprs, value.is_list).Union());
}

fb::Offset<Attr> write_attr(fb::FlatBufferBuilder& b, AttrKey key, const shw::AttrValue& value) {
  const auto name = b.CreateSharedString(attr_key_name(key).data(), attr_key_name(key).size());
  AttrValue kind{};
  fb::Offset<void> stored;
  if (const auto* i = std::get_if<int64_t>(&value)) {
    kind = AttrValue::IntValue, stored = CreateIntValue(b, *i).Union();
  } else if (const auto* d = std::get_if<double>(&value)) {
    b.ForceDefaults(true);  // a default would turn -0.0 into 0.0
    kind = AttrValue::FloatValue, stored = CreateFloatValue(b, *d).Union();
    b.ForceDefaults(false);
  } else if (const auto* t = std::get_if<bool>(&value)) {
    kind = AttrValue::BoolValue, stored = CreateBoolValue(b, *t).Union();
  } else if (const auto* dtype = std::get_if<shw::Dtype>(&value)) {
    kind = AttrValue::DtypeValue;
    stored = CreateDtypeValue(b, static_cast<Dtype>(*dtype)).Union();
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    kind = AttrValue::IntsValue, stored = CreateIntsValue(b, b.CreateVector(*ints)).Union();
  } else {
    kind = AttrValue::StringValue;
    stored = CreateStringValue(b, b.CreateSharedString(std::get<std::string>(value))).Union();
  }
  return CreateAttr(b, name, kind, stored);
}

}  // namespace shw::wire
