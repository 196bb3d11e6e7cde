// shw_buffer.
#include "buffer.h"

#include "plan/program.h"
#include "runtime/strided.h"

namespace shw::capi {
namespace {

// The bytes from element 0 to the end of the last element.
Result<int64_t> window_bytes(const TensorType& type) {
  int64_t last = 0;
  for (size_t d = 0; d < type.shape.size(); ++d) {
    if (type.shape[d] == 0) return int64_t{0};
    int64_t step = 0;
    if (__builtin_mul_overflow(type.shape[d] - 1, type.strides[d], &step) ||
        __builtin_add_overflow(last, step, &last))
      return invalid_argument("the strides of " + to_string(type) + " reach beyond 2^63 elements");
  }
  int64_t bytes = 0;
  if (__builtin_add_overflow(last, int64_t{1}, &last) ||
      __builtin_mul_overflow(last, dtype_size(type.dtype), &bytes))
    return invalid_argument("the strides of " + to_string(type) + " reach beyond 2^63 bytes");
  return bytes;
}

void copy_window(const TensorType& to_type, void* to, const TensorType& from_type,
                 const void* from) {
  runtime::StridedCopy(to_type.shape, dtype_size(to_type.dtype), to_type.strides, from_type.strides)
      .run(to, from);
}

Result<std::unique_ptr<shw_buffer>> import_copy(const DeviceRef& device, const shw_tensor& tensor,
                                                const TensorType& type) {
  const TensorType dense = row_major(type.dtype, type.shape);
  SHW_ASSIGN_OR_RETURN(auto buffer, allocate_buffer(device, dense, dense.bytes()));
  SHW_ASSIGN_OR_RETURN(HostWindow window, HostWindow::of(*buffer));
  copy_window(dense, window.data(), type, tensor.data);
  SHW_RETURN_IF_ERROR(window.write_back());
  return buffer;
}

Result<std::unique_ptr<shw_buffer>> import_in_place(const DeviceRef& device,
                                                    const shw_tensor& tensor,
                                                    const TensorType& type, shw_release_fn release,
                                                    void* release_user) {
  if (!device->can().host_access)
    return unimplemented("host memory cannot be used in place by device '" +
                         std::string(device->device_class().name) + "'");
  SHW_ASSIGN_OR_RETURN(const int64_t bytes, window_bytes(type));
  auto buffer = std::make_unique<shw_buffer>();
  buffer->type = type;
  buffer->device = device;
  std::function<void()> on_release;
  if (release != nullptr)
    on_release = [release, release_user, data = tensor.data] { release(release_user, data); };
  buffer->memory = runtime::Buffer::borrow(tensor.data, bytes, std::move(on_release));
  return buffer;
}

Status check_size(const shw_buffer& buffer, size_t size) {
  if (size == static_cast<size_t>(buffer.type.bytes())) return {};
  return invalid_argument("size is " + std::to_string(size) + " bytes; " + to_string(buffer.type) +
                          " has " + std::to_string(buffer.type.bytes()));
}

}  // namespace

Result<Dtype> read_dtype(shw_dtype dtype) {
  if (const std::optional<Dtype> known = dtype_from_number(dtype)) return *known;
  return invalid_argument("dtype " + std::to_string(dtype) + " is unknown");
}

Result<TensorType> make_type(shw_dtype dtype, const int64_t* dims, const int64_t* strides,
                             int32_t rank) {
  SHW_ASSIGN_OR_RETURN(const Dtype known, read_dtype(dtype));
  if (rank < 0 || rank > kMaxRank)
    return invalid_argument("rank is " + std::to_string(rank) + ", expected 0 to " +
                            std::to_string(kMaxRank));
  if (rank > 0) SHW_WANT(dims);
  const auto count = static_cast<size_t>(rank);
  TensorType type{Dims(std::span(dims, count)), Dims(count, 0), known};
  SHW_RETURN_IF_ERROR(check_tensor_type(type));  // before strides are computed from the sizes
  type.strides =
      strides == nullptr ? row_major_strides(type.shape) : Dims(std::span(strides, count));
  SHW_RETURN_IF_ERROR(check_tensor_type(type));
  return type;
}

Result<TensorType> type_of(const shw_tensor& tensor) {
  if (tensor.dtype == 0) return invalid_argument("shw_tensor::dtype is not set");
  SHW_ASSIGN_OR_RETURN(const TensorType type,
                       make_type(tensor.dtype, tensor.dims, tensor.strides, tensor.rank));
  if (tensor.data == nullptr && type.numel() > 0) return invalid_argument("tensor.data is NULL");
  if (tensor.device_kind != 0 && tensor.device_kind != SHW_DEVICE_CPU)
    return unimplemented("device_kind " + std::to_string(tensor.device_kind) +
                         ": this library knows the CPU's memory only");
  if (tensor.device_index != 0)
    return invalid_argument("device_index is " + std::to_string(tensor.device_index) +
                            "; the CPU has number 0 only");
  return type;
}

Result<std::unique_ptr<shw_buffer>> allocate_buffer(const DeviceRef& device, const TensorType& type,
                                                    int64_t bytes, int64_t offset_bytes) {
  auto buffer = std::make_unique<shw_buffer>();
  buffer->type = type;
  buffer->device = device;
  SHW_ASSIGN_OR_RETURN(buffer->memory, runtime::Buffer::allocate(device, {bytes, kArenaAlignment}));
  buffer->offset_bytes = offset_bytes;
  return buffer;
}

Status check_is_written(const shw_buffer& buffer) {
  if (buffer.written_by->ready()) return {};
  return failed_precondition(
      "a run that writes this buffer has not ended: wait for that run first");
}

Result<HostWindow> HostWindow::of(const shw_buffer& buffer) {
  SHW_RETURN_IF_ERROR(check_is_written(buffer));
  HostWindow window;
  window.buffer_ = &buffer;
  if (buffer.device->can().host_access) {
    window.in_place_ = buffer.data();
    return window;
  }
  SHW_ASSIGN_OR_RETURN(const int64_t bytes, window_bytes(buffer.type));
  window.copy_.resize(static_cast<size_t>(bytes));
  SHW_RETURN_IF_ERROR(buffer.device->copy(window.copy_.data(), buffer.data(), bytes,
                                          runtime::CopyKind::kDeviceToHost));
  return window;
}

Status HostWindow::write_back() {
  if (in_place_ != nullptr) return {};
  return buffer_->device->copy(buffer_->data(), copy_.data(), static_cast<int64_t>(copy_.size()),
                               runtime::CopyKind::kHostToDevice);
}

bool same_window(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] > 1 && a.strides[d] != b.strides[d] && a.numel() > 0) return false;
  return true;
}

}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

shw_status* shw_buffer_create(shw_device* device, shw_dtype dtype, const int64_t* dims,
                              int32_t rank, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(device);
    SHW_ASSIGN_OR_RETURN(const TensorType type, make_type(dtype, dims, nullptr, rank));
    SHW_ASSIGN_OR_RETURN(auto buffer, allocate_buffer(device->ref, type, type.bytes()));
    SHW_ASSIGN_OR_RETURN(HostWindow window, HostWindow::of(*buffer));
    if (type.bytes() > 0) std::memset(window.data(), 0, static_cast<size_t>(type.bytes()));
    SHW_RETURN_IF_ERROR(window.write_back());
    return buffer;
  });
}

shw_status* shw_buffer_import(shw_device* device, const shw_tensor* tensor, shw_borrow borrow,
                              shw_release_fn release, void* release_user, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(device);
    SHW_WANT(tensor);
    SHW_ASSIGN_OR_RETURN(const TensorType type, type_of(*tensor));
    switch (borrow) {
      case SHW_BORROW_COPY:
        if (release != nullptr)
          return invalid_argument("memory that is copied is not released: release must be NULL");
        return import_copy(device->ref, *tensor, type);
      case SHW_BORROW_UNTIL_RELEASE:
        return import_in_place(device->ref, *tensor, type, release, release_user);
      default:
        return invalid_argument("borrow " + std::to_string(borrow) + " is unknown");
    }
  });
}

shw_status* shw_buffer_get_tensor(const shw_buffer* buffer, shw_tensor* out_tensor) {
  return fill_value(out_tensor, "out_tensor", [&](auto& out) -> Status {
    SHW_WANT(buffer);
    const TensorType& type = buffer->type;
    out = {buffer->data(),
           type.shape.begin(),
           type.strides.begin(),
           type.rank(),
           static_cast<shw_dtype>(type.dtype),
           kind_of(*buffer->device),
           0};
    return {};
  });
}

shw_status* shw_buffer_read(const shw_buffer* buffer, void* data, size_t size) {
  return guard([&]() -> Status {
    SHW_WANT(buffer);
    SHW_RETURN_IF_ERROR(check_size(*buffer, size));
    if (size == 0) return {};
    SHW_WANT(data);
    SHW_ASSIGN_OR_RETURN(const HostWindow window, HostWindow::of(*buffer));
    const TensorType dense = row_major(buffer->type.dtype, buffer->type.shape);
    copy_window(dense, data, buffer->type, window.data());
    return {};
  });
}

shw_status* shw_buffer_write(shw_buffer* buffer, const void* data, size_t size) {
  return guard([&]() -> Status {
    SHW_WANT(buffer);
    SHW_RETURN_IF_ERROR(check_size(*buffer, size));
    if (size == 0) return {};
    SHW_WANT(data);
    SHW_ASSIGN_OR_RETURN(HostWindow window, HostWindow::of(*buffer));
    const TensorType dense = row_major(buffer->type.dtype, buffer->type.shape);
    copy_window(buffer->type, window.data(), dense, data);
    buffer->piece = {};
    return window.write_back();
  });
}

void shw_buffer_destroy(shw_buffer* buffer) { delete buffer; }
