// What entries leave to those that run after them, such as a forward pass its backward pass. Each
// session has its own memory, on the device and of the host, so several may be under way. Calls are
// the executor's; one thread at a time.
#pragma once
#include <memory>
#include <vector>

#include "plan/program.h"
#include "runtime/buffer.h"

namespace shw::runtime {

class Session {
 public:
  // What sessions of one executor have in common, and no others.
  using Owner = std::shared_ptr<const char>;
  static Result<std::shared_ptr<Session>> create(Owner owner, std::shared_ptr<Device> device,
                                                 const Program& program);

  // INVALID_ARGUMENT: the session belongs to another executor. FAILED_PRECONDITION: an entry that
  // must run before this one has not.
  Status check(const Owner& owner, const Program& program, size_t entry) const;
  void has_run(size_t entry) { has_run_[entry] = true; }
  // Runs hold both until they have ended.
  const BufferRef& memory() const { return memory_; }
  const BufferRef& host_memory() const { return host_memory_; }  // null: none is needed

 private:
  Session(Owner owner, size_t num_entries)
      : owner_(std::move(owner)), has_run_(num_entries, false) {}
  Owner owner_;
  BufferRef memory_, host_memory_;
  std::vector<bool> has_run_;  // by entry
};

}  // namespace shw::runtime
