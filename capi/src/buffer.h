// What a buffer is behind its handle: a tensor's type and a window into memory that runs may share.
#pragma once
#include "context.h"
#include "runtime/buffer.h"
#include "shardwise/runtime.h"
#include "tensor/tensor_type.h"

struct shw_buffer {
  shw::TensorType type;
  shw::runtime::BufferRef memory;
  int64_t offset_bytes = 0;  // of element 0

  void* data() const { return static_cast<std::byte*>(memory->data()) + offset_bytes; }
};

namespace shw::capi {

// Checked. `strides` NULL is row-major.
Result<TensorType> make_type(shw_dtype dtype, const int64_t* dims, const int64_t* strides,
                             int32_t rank);

// Checked: a sound type, the CPU's memory.
Result<TensorType> type_of(const shw_tensor& tensor);

// In the context's memory, not filled. `bytes`: at least what the window needs.
std::unique_ptr<shw_buffer> allocate_buffer(const ContextRef& context, const TensorType& type,
                                            int64_t bytes, int64_t offset_bytes = 0);

// The same elements at the same places: strides of dims of size 1 say nothing.
bool same_window(const TensorType& a, const TensorType& b);

}  // namespace shw::capi
