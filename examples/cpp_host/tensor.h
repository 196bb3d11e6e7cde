// A row-major tensor of f32 in the host's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "memory.h"

namespace host {

using Shape = std::vector<std::int64_t>;

inline std::size_t count(const Shape& shape) {
  std::size_t product = 1;
  for (const std::int64_t size : shape) product *= static_cast<std::size_t>(size);
  return product;
}

// Copies share the memory.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Memory& memory, Shape shape) : shape_(std::move(shape)) {
    const std::size_t bytes = size() * sizeof(float);
    auto* block = static_cast<float*>(memory.take(bytes));
    if (block == nullptr) throw std::bad_alloc();
    data_ = std::shared_ptr<float>(
        block, [&memory, bytes](float* mine) { memory.give_back(mine, bytes); });
  }

  const Shape& shape() const { return shape_; }
  std::size_t size() const { return count(shape_); }
  float* data() const { return data_.get(); }
  // The owner of the memory, for whom uses it without a copy.
  const std::shared_ptr<float>& owner() const { return data_; }

 private:
  Shape shape_;
  std::shared_ptr<float> data_;
};

}  // namespace host
