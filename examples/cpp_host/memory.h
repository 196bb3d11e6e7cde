// The host's allocator: blocks of sizes that are powers of two, kept for the next use. Shardwise
// takes its tensors from here, too.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace host {

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  // Aligned to at least 64; nullptr: the system has no more.
  void* take(std::size_t size, std::size_t alignment = 64);
  void give_back(void* block, std::size_t size, std::size_t alignment = 64);

  std::size_t bytes_in_use() const;
  std::size_t peak_bytes() const;

 private:
  struct Kind {
    std::size_t size, alignment;
    bool operator<(const Kind& b) const {
      return size != b.size ? size < b.size : alignment < b.alignment;
    }
  };
  static Kind kind_of(std::size_t size, std::size_t alignment);

  mutable std::mutex mutex_;
  std::map<Kind, std::vector<void*>> free_;
  std::size_t in_use_ = 0, peak_ = 0;
};

}  // namespace host
