// Reference-counted device memory, for the tensors that go into and come out of an executor.
#pragma once
#include <functional>
#include <memory>

#include "runtime/hal.h"

namespace shw::runtime {

class Buffer {
 public:
  static Result<std::shared_ptr<Buffer>> allocate(std::shared_ptr<Device> device,
                                                  const MemorySpec& spec);
  // Wraps memory that the caller owns. `release` (may be empty) is called once, from any thread,
  // when the last reference is dropped; it must not call the library.
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
