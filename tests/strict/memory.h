// Memory at addresses that the host cannot access.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>

#include "runtime/hal.h"

namespace shw::strict {

class Memory {
 public:
  explicit Memory(int64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Returns an address that becomes usable with make_live().
  Result<void*> reserve(const runtime::MemorySpec& spec);
  void make_live(void* memory);
  // INVALID_ARGUMENT: there is no such memory, or its spec was another one when it was allocated.
  Status release(void* memory, const runtime::MemorySpec& spec);
  // Maps a device address to an address that kernels can access. OUT_OF_RANGE: the address is in no
  // live memory.
  Result<void*> for_kernels(const void* address) const;

  int64_t bytes_in_use() const;

 private:
  struct Block {
    runtime::MemorySpec spec;
    uintptr_t end;  // end of the bytes that the block occupies
    bool live = false;
  };
  bool is_host_kind(const Block& block) const {
    return block.spec.kind == runtime::MemoryKind::kHost;
  }

  const int64_t capacity_;
  std::byte* handed_out_ = nullptr;  // no access
  std::byte* pages_ = nullptr;       // the same pages, with access
  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;  // by address; those of the host lie elsewhere
};

}  // namespace shw::strict
