// Device memory that is registered with every NCCL communicator that uses it. If NCCL supports
// that, collectives then work in it without intermediate copies.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/plugin/nccl.h"

namespace shw::runtime::cuda {

class RegisteredMemory {
 public:
  struct Range {
    void* begin;
    size_t bytes;
    bool is_of_nccl;  // allocated by NCCL
  };
  // An object that has registered ranges. `forget` is called before a range is freed.
  class User {
   public:
    virtual void forget(const void* begin) = 0;

   protected:
    ~User() = default;
  };

  // Call for each channel. `nccl`: empty if NCCL is too old to register memory.
  void attach(const NcclRegistration& nccl, std::weak_ptr<User> user);

  // Allocates memory from NCCL that supports all of its fast paths on this device; null: not
  // available.
  void* allocate(size_t bytes);
  void add(const Range& range);
  // Frees memory from allocate(). False: allocate() did not return it, and the caller must free it.
  bool remove(void* begin);

  // Changes whenever ranges are added.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  std::vector<Range> ranges() const;

 private:
  mutable std::mutex mutex_;
  NcclRegistration nccl_;
  std::vector<Range> ranges_;
  std::vector<std::weak_ptr<User>> users_;
  std::atomic<uint64_t> changes_{0};
};

}  // namespace shw::runtime::cuda
