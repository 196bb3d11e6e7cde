// The object behind a buffer handle: a tensor's type, and a window into memory that runs may share.
#pragma once
#include <memory>
#include <vector>

#include "device.h"
#include "runtime/buffer.h"
#include "runtime/timeline.h"
#include "tensor/tensor_type.h"

namespace shw::capi {

struct LoadedPlan;

// The plan and the rank whose piece a buffer holds; no rank if the caller filled the buffer.
struct PieceOf {
  std::weak_ptr<const LoadedPlan> plan = {};
  int32_t rank = -1;
};

}  // namespace shw::capi

struct shw_buffer {
  shw::TensorType type;
  shw::capi::DeviceRef device;  // device of the memory
  shw::runtime::BufferRef memory;
  int64_t offset_bytes = 0;  // offset of element 0
  // The last run that writes the memory; shared by all handles of it.
  std::shared_ptr<shw::runtime::Completion> written_by =
      std::make_shared<shw::runtime::Completion>();
  shw::capi::PieceOf piece = {};

  void* data() const { return static_cast<std::byte*>(memory->data()) + offset_bytes; }
};

namespace shw::capi {

Result<Dtype> read_dtype(shw_dtype dtype);  // INVALID_ARGUMENT: it is unknown

// Checks the arguments. `strides` NULL: row-major.
Result<TensorType> make_type(shw_dtype dtype, const int64_t* dims, const int64_t* strides,
                             int32_t rank);

// Checks that the type is valid and that the memory is the CPU's.
Result<TensorType> type_of(const shw_tensor& tensor);

// Uninitialised. `bytes`: size of the memory, at least what the window needs.
Result<std::unique_ptr<shw_buffer>> allocate_buffer(const DeviceRef& device, const TensorType& type,
                                                    int64_t bytes, int64_t offset_bytes = 0);

// Whether two windows have the same elements at the same positions; strides of dims of size 1 are
// ignored.
bool same_window(const TensorType& a, const TensorType& b);

// FAILED_PRECONDITION: a run that writes the buffer has not ended.
Status check_is_written(const shw_buffer& buffer);

// A buffer's window in memory that the host can access: the memory itself, or a copy of it.
class HostWindow {
 public:
  static Result<HostWindow> of(const shw_buffer& buffer);
  void* data() { return in_place_ != nullptr ? in_place_ : copy_.data(); }
  const void* data() const { return in_place_ != nullptr ? in_place_ : copy_.data(); }
  // Copies the written data back to the buffer.
  Status write_back();

 private:
  const shw_buffer* buffer_ = nullptr;
  void* in_place_ = nullptr;
  std::vector<std::byte> copy_;
};

}  // namespace shw::capi
