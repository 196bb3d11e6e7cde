// The memory that a rank's communicators have registered.
#include <algorithm>

#include "runtime/cuda/plugin/communicators.h"

namespace shw::runtime::cuda {

// Registers each range that was added since the last call.
NcclError Communicators::register_memory(Group& group) {
  const uint64_t changes = context_->registered().changes();
  if (registration_.add == nullptr || group.registered_at == changes) return kNcclSuccess;
  const Current current(*context_);
  for (const RegisteredMemory::Range& range : context_->registered().ranges()) {
    if (std::ranges::find(group.registered, range.begin, &Group::Registration::begin) !=
        group.registered.end())
      continue;
    void* handle = nullptr;
    const NcclError error =
        registration_.add(group.communicator, range.begin, range.bytes, &handle);
    if (error != kNcclSuccess) return error;
    group.registered.push_back({range.begin, handle});
  }
  group.registered_at = changes;
  return kNcclSuccess;
}

void Communicators::forget(const void* begin) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !is_ending_; });  // an abort also releases registrations
  const Current current(*context_);
  for (const auto& group : groups_)
    std::erase_if(group->registered, [&](const Group::Registration& r) {
      if (r.begin != begin) return false;
      (void)registration_.remove(group->communicator, r.handle);
      return true;
    });
}

}  // namespace shw::runtime::cuda
