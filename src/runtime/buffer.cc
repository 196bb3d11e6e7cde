#include "runtime/buffer.h"

namespace shw::runtime {

Result<BufferRef> Buffer::allocate(std::shared_ptr<Device> device, const MemorySpec& spec) {
  if (spec.bytes < 0)
    return invalid_argument("a buffer of " + std::to_string(spec.bytes) + " bytes");
  BufferRef buffer(new Buffer(nullptr, spec));  // created first, because creating it can fail, too
  SHW_ASSIGN_OR_RETURN(buffer->data_, device->allocate(spec));
  buffer->device_ = std::move(device);
  return buffer;
}

BufferRef Buffer::borrow(void* memory, int64_t bytes, std::function<void()> release) {
  BufferRef buffer(new Buffer(memory, {bytes}));
  buffer->release_ = std::move(release);
  return buffer;
}

Buffer::~Buffer() {
  if (device_ != nullptr) device_->free(data_, spec_);
  if (release_) release_();
}

}  // namespace shw::runtime
