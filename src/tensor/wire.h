// Reads and writes types and attributes as bytes: the tables of schemas/types.fbs, which graphs and
// plans share. Files are not trusted. The caller sets their limits.
#pragma once
#include <cstring>
#include <vector>

#include "support/status.h"
#include "tensor/attrs.h"
#include "tensor/symbols.h"
#include "tensor/tensor_type.h"
#include "types_generated.h"

namespace shw::wire {

template <class T>
flatbuffers::uoffset_t count(const flatbuffers::Vector<T>* v) {
  return v == nullptr ? 0 : v->size();
}

// FlatBuffers 2.0.8 verifies that a vector's length is aligned, but not that its elements are.
// Elements of 8 bytes may be at any multiple of 4.
template <class T>
std::vector<T> copy(const flatbuffers::Vector<T>* v) {
  std::vector<T> list(count(v));
  if (!list.empty()) std::memcpy(list.data(), v->Data(), list.size() * sizeof(T));
  return list;
}

// INVALID_ARGUMENT: no tensor can have that type. Writes the expressions of its sizes to `sizes`,
// which stays empty if all sizes are numbers. If `sizes` is null, expressions are refused.
Result<shw::TensorType> read_type(const TensorType& type, Exprs* sizes = nullptr);
// INVALID_ARGUMENT: a value of unknown kind. For a value that depends on symbols, returns the
// numbers at `hints`, and writes its expressions to `exprs`. If `exprs` is null, such a value is
// refused.
Result<shw::AttrValue> read_value(const Attr& attr, std::span<const int64_t> hints = {},
                                  AttrExprs* exprs = nullptr);
// INVALID_ARGUMENT: see check_symbols(). A hint of 0, if 0 is not a valid size, means `max`.
Result<std::vector<shw::Symbol>> read_symbols(
    const flatbuffers::Vector<flatbuffers::Offset<Symbol>>* symbols);

flatbuffers::Offset<TensorType> write_type(flatbuffers::FlatBufferBuilder& b,
                                           const shw::TensorType& type,
                                           std::span<const shw::Expr> sizes = {});
flatbuffers::Offset<Attr> write_attr(flatbuffers::FlatBufferBuilder& b, AttrKey key,
                                     const shw::AttrValue& value);
flatbuffers::Offset<Attr> write_attr(flatbuffers::FlatBufferBuilder& b, AttrKey key,
                                     const AttrExprs& value);
// Absent if there are no symbols.
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<Symbol>>> write_symbols(
    flatbuffers::FlatBufferBuilder& b, std::span<const shw::Symbol> symbols);

}  // namespace shw::wire
