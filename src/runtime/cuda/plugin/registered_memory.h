// Memory of a device that collectives may work in without copies of their own, where NCCL can do
// that: it is registered with every communicator that uses it.
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
    bool is_of_nccl;  // NCCL gave it
  };
  // Whoever has registered ranges. `forget` comes before a range is given back.
  class User {
   public:
    virtual void forget(const void* begin) = 0;

   protected:
    ~User() = default;
  };

  // From the first channel on. `nccl`: empty where NCCL is too old to register memory.
  void attach(const NcclRegistration& nccl, std::weak_ptr<User> user);

  // Memory as NCCL likes it, for which all of a device's ways are open; null: there is none.
  void* allocate(size_t bytes);
  void add(const Range& range);
  // Gives back what allocate() gave. False: it did not, so the caller does.
  bool remove(void* begin);

  // Another number than before, when ranges have come.
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
