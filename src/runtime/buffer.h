// A piece of a device's memory that is shared by whoever needs it: tensors that go into and come
// out of an executor.
#pragma once
#include <functional>
#include <memory>

#include "runtime/hal.h"

namespace shw::runtime {

class Buffer {
 public:
  static Result<std::shared_ptr<Buffer>> allocate(std::shared_ptr<Device> device,
                                                  const MemorySpec& spec);
  // Memory of somebody else's. `release` (may be empty) is called once, from any thread, when
  // nobody needs the memory any more; it must not call the library.
  static std::shared_ptr<Buffer> borrow(void* memory, int64_t bytes, std::function<void()> release);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  int64_t bytes() const { return spec_.bytes; }

 private:
  Buffer(void* data, const MemorySpec& spec) : data_(data), spec_(spec) {}
  void* data_;
  MemorySpec spec_;
  std::shared_ptr<Device> device_;  // null: borrowed
  std::function<void()> release_;
};
using BufferRef = std::shared_ptr<Buffer>;

}  // namespace shw::runtime
