#include "memory.h"

#include <algorithm>
#include <new>

namespace host {

Memory::Kind Memory::kind_of(std::size_t size, std::size_t alignment) {
  Kind kind{64, std::max<std::size_t>(alignment, 64)};
  while (kind.size < size) kind.size *= 2;
  return kind;
}

void* Memory::take(std::size_t size, std::size_t alignment) {
  const Kind kind = kind_of(size, alignment);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<void*>& free = free_[kind];
  void* block = nullptr;
  if (free.empty()) {
    block = operator new (kind.size, std::align_val_t{kind.alignment}, std::nothrow);
    if (block == nullptr) return nullptr;
  } else {
    block = free.back();
    free.pop_back();
  }
  in_use_ += kind.size;
  peak_ = std::max(peak_, in_use_);
  return block;
}

void Memory::give_back(void* block, std::size_t size, std::size_t alignment) {
  if (block == nullptr) return;
  const Kind kind = kind_of(size, alignment);
  const std::lock_guard<std::mutex> lock(mutex_);
  free_[kind].push_back(block);
  in_use_ -= kind.size;
}

std::size_t Memory::bytes_in_use() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return in_use_;
}

std::size_t Memory::peak_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return peak_;
}

Memory::~Memory() {
  for (auto& [kind, blocks] : free_)
    for (void* block : blocks) operator delete (block, std::align_val_t{kind.alignment});
}

}  // namespace host
