#include "runtime/cuda/plugin/registered_memory.h"

#include <algorithm>
#include <utility>

namespace shw::runtime::cuda {

void RegisteredMemory::attach(const NcclRegistration& nccl, std::weak_ptr<User> user) {
  std::lock_guard lock(mutex_);
  nccl_ = nccl;
  std::erase_if(users_, [](const auto& known) { return known.expired(); });
  users_.push_back(std::move(user));
}

void* RegisteredMemory::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  void* memory = nullptr;
  if (nccl_.allocate == nullptr || nccl_.allocate(&memory, bytes) != kNcclSuccess) return nullptr;
  return memory;
}

void RegisteredMemory::add(const Range& range) {
  std::lock_guard lock(mutex_);
  ranges_.push_back(range);
  changes_.fetch_add(1, std::memory_order_release);
}

bool RegisteredMemory::remove(void* begin) {
  std::unique_lock lock(mutex_);
  const auto at = std::ranges::find(ranges_, begin, &Range::begin);
  const bool is_of_nccl = at != ranges_.end() && at->is_of_nccl;
  if (at != ranges_.end()) ranges_.erase(at);
  const std::vector<std::weak_ptr<User>> users = users_;
  const NcclRegistration nccl = nccl_;
  lock.unlock();  // users hold their own locks when they ask for ranges
  for (const auto& known : users)
    if (const auto user = known.lock()) user->forget(begin);
  if (is_of_nccl) (void)nccl.free(begin);
  return is_of_nccl;
}

std::vector<RegisteredMemory::Range> RegisteredMemory::ranges() const {
  std::lock_guard lock(mutex_);
  return ranges_;
}

}  // namespace shw::runtime::cuda
