// Types and attributes as bytes: the tables of schemas/types.fbs, which graphs and plans share.
// Nothing of a file is trusted; what its limits are is said by the caller.
#pragma once
#include <cstring>
#include <vector>

#include "support/status.h"
#include "tensor/attrs.h"
#include "tensor/tensor_type.h"
#include "types_generated.h"

namespace shw::wire {

template <class T>
flatbuffers::uoffset_t count(const flatbuffers::Vector<T>* v) {
  return v == nullptr ? 0 : v->size();
}

// FlatBuffers 2.0.8 verifies that a vector's length is aligned, not that its elements are: those of
// 8 bytes may stand at any multiple of 4.
template <class T>
std::vector<T> copy(const flatbuffers::Vector<T>* v) {
  std::vector<T> list(count(v));
  if (!list.empty()) std::memcpy(list.data(), v->Data(), list.size() * sizeof(T));
  return list;
}

// INVALID_ARGUMENT: no tensor has that type. UNIMPLEMENTED: it depends on symbols.
Result<shw::TensorType> read_type(const TensorType& type);
// INVALID_ARGUMENT: a value of unknown kind. UNIMPLEMENTED: it depends on symbols.
Result<shw::AttrValue> read_value(const Attr& attr);

flatbuffers::Offset<TensorType> write_type(flatbuffers::FlatBufferBuilder& b,
                                           const shw::TensorType& type);
flatbuffers::Offset<Attr> write_attr(flatbuffers::FlatBufferBuilder& b, AttrKey key,
                                     const shw::AttrValue& value);

}  // namespace shw::wire
