// Data that an entry leaves for entries that run later, such as a forward pass for its backward
// pass. Each session has its own memory, on the device and on the host, so several sessions can be
// in use at once. Only the executor calls these functions; one thread at a time.
#pragma once
#include <memory>
#include <vector>

#include "plan/program.h"
#include "runtime/buffer.h"

namespace shw::runtime {

class Session {
 public:
  // Identifies the executor that a session belongs to.
  using Owner = std::shared_ptr<const char>;
  static Result<std::shared_ptr<Session>> create(Owner owner, std::shared_ptr<Device> device,
                                                 const Program& program);

  // INVALID_ARGUMENT: the session belongs to another executor. FAILED_PRECONDITION: an entry that
  // must run before this one has not.
  Status check(const Owner& owner, const Program& program, size_t entry) const;
  void has_run(size_t entry) { has_run_[entry] = true; }
  // Runs keep both buffers alive until they have ended.
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
