// What entries leave to those that run after them, such as a forward pass its backward pass. Each
// session has its own memory, so several may be under way. Calls are the executor's; one thread at
// a time.
#pragma once
#include <memory>
#include <vector>

#include "plan/program.h"
#include "runtime/buffer.h"

namespace shw::runtime {

class Session {
 public:
  static Result<std::shared_ptr<Session>> create(std::shared_ptr<Device> device,
                                                 const Program& program);

  // FAILED_PRECONDITION: an entry that must run before this one has not.
  Status check(const Program& program, size_t entry) const;
  void has_run(size_t entry) { has_run_[entry] = true; }
  std::byte* data() const { return static_cast<std::byte*>(memory_->data()); }
  const BufferRef& memory() const { return memory_; }  // runs hold it until they have ended

 private:
  Session(BufferRef memory, size_t num_entries)
      : memory_(std::move(memory)), has_run_(num_entries, false) {}
  BufferRef memory_;
  std::vector<bool> has_run_;  // by entry
};

}  // namespace shw::runtime
