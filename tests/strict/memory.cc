#include "strict/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace shw::strict {
namespace {

constexpr int kNew = 0xcd, kGone = 0xdb;  // the bytes that new and freed memory is filled with

uintptr_t round_up(uintptr_t value, int64_t to) {
  const auto step = static_cast<uintptr_t>(to);
  return (value + step - 1) / step * step;
}

}  // namespace

Memory::Memory(int64_t bytes) : capacity_(bytes) {
  const auto size = static_cast<size_t>(bytes);
  const int fd = memfd_create("strict device", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, bytes) != 0) std::abort();
  void* handed_out = mmap(nullptr, size, PROT_NONE, MAP_SHARED, fd, 0);
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (handed_out == MAP_FAILED || pages == MAP_FAILED) std::abort();
  handed_out_ = static_cast<std::byte*>(handed_out);
  pages_ = static_cast<std::byte*>(pages);
}

Memory::~Memory() {
  for (const auto& [address, block] : blocks_)
    if (is_host_kind(block)) std::free(reinterpret_cast<void*>(address));
  munmap(handed_out_, static_cast<size_t>(capacity_));
  munmap(pages_, static_cast<size_t>(capacity_));
}

Result<void*> Memory::reserve(const runtime::MemorySpec& spec) {
  constexpr uintptr_t kFence = 64;  // gap between blocks, in bytes
  std::lock_guard lock(mutex_);
  const Status none(Code::kResourceExhausted,
                    "no device memory for " + std::to_string(spec.bytes) + " bytes");
  if (spec.bytes > capacity_) return none;
  const auto bytes = static_cast<uintptr_t>(spec.bytes < 1 ? 1 : spec.bytes);
  if (spec.kind == runtime::MemoryKind::kHost) {
    void* memory =
        std::aligned_alloc(static_cast<size_t>(spec.alignment), round_up(bytes, spec.alignment));
    if (memory == nullptr) return none;
    const auto at = reinterpret_cast<uintptr_t>(memory);
    blocks_[at] = {spec, at + bytes};
    return memory;
  }
  const auto first = reinterpret_cast<uintptr_t>(handed_out_);
  const uintptr_t last = first + static_cast<uintptr_t>(capacity_);
  uintptr_t begin = round_up(first, spec.alignment);
  for (auto it = blocks_.lower_bound(first); it != blocks_.end() && it->first < last; ++it) {
    if (begin + bytes + kFence <= it->first) break;
    begin = round_up(it->second.end, spec.alignment);
  }
  if (begin + bytes + kFence > last) return none;
  blocks_[begin] = {spec, begin + bytes + kFence};
  return reinterpret_cast<void*>(begin);
}

void Memory::make_live(void* memory) {
  std::lock_guard lock(mutex_);
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (it == blocks_.end()) return;
  it->second.live = true;
  if (!is_host_kind(it->second))
    std::memset(pages_ + (static_cast<std::byte*>(memory) - handed_out_), kNew,
                it->second.end - it->first);
}

Status Memory::release(void* memory, const runtime::MemorySpec& spec) {
  std::lock_guard lock(mutex_);
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (it == blocks_.end() || !it->second.live)
    return invalid_argument("memory was given back that is not in use");
  const Block& b = it->second;
  if (b.spec.bytes != spec.bytes || b.spec.alignment != spec.alignment || b.spec.kind != spec.kind)
    return invalid_argument("memory was given back otherwise than it was allocated");
  if (is_host_kind(b))
    std::free(memory);
  else
    std::memset(pages_ + (static_cast<std::byte*>(memory) - handed_out_), kGone, b.end - it->first);
  blocks_.erase(it);
  return {};
}

Result<void*> Memory::for_kernels(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  std::lock_guard lock(mutex_);
  auto it = blocks_.upper_bound(at);
  const bool found = it != blocks_.begin() && (--it, at <= it->second.end) && it->second.live;
  if (!found) return Status(Code::kOutOfRange, "an address lies in no live device memory");
  if (is_host_kind(it->second)) return const_cast<void*>(address);
  return static_cast<void*>(pages_ + (static_cast<const std::byte*>(address) - handed_out_));
}

int64_t Memory::bytes_in_use() const {
  std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [address, block] : blocks_) bytes += block.spec.bytes;
  return bytes;
}

}  // namespace shw::strict
