#include "tensor/wire.h"

#include <string>

namespace shw::wire {

namespace fb = flatbuffers;

namespace {

Status check_no_symbols(const TensorType& in) {
  for (fb::uoffset_t d = 0; d < count(in.shape_exprs()); ++d)
    if (count(in.shape_exprs()->Get(d)->symbols()) > 0)
      return unimplemented("dim " + std::to_string(d) +
                           " is symbolic; only sizes that are numbers are supported");
  return {};
}

}  // namespace

Result<shw::TensorType> read_type(const TensorType& in) {
  SHW_RETURN_IF_ERROR(check_no_symbols(in));
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
  return type;
}

Result<shw::AttrValue> read_value(const Attr& attr) {
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
    case AttrValue::ExprsValue:
      return unimplemented("its value depends on symbols; only numbers are supported");
    default:
      return invalid_argument("a value of unknown kind " +
                              std::to_string(static_cast<int>(attr.value_type())));
  }
  return value;
}

fb::Offset<TensorType> write_type(fb::FlatBufferBuilder& b, const shw::TensorType& type) {
  const auto dims = [&](const Dims& d) { return b.CreateVector(d.begin(), d.size()); };
  fb::Offset<fb::Vector<int64_t>> shape, strides;
  if (!type.shape.empty()) shape = dims(type.shape);
  if (type.strides != row_major_strides(type.shape)) strides = dims(type.strides);
  return CreateTensorType(b, shape, strides, static_cast<Dtype>(type.dtype));
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
