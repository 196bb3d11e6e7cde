// The object behind a context handle. All objects that were created with a context share it, so the
// caller may destroy the handle at any time.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "boundary.h"
#include "runtime/cuda/options.h"
#include "support/parallel.h"

namespace shw::runtime {
class WorldRegistry;
namespace cpu {
class ProcessWorkers;
}
}  // namespace shw::runtime

namespace shw::capi {

class Context {
 public:
  explicit Context(const shw_context_options& options);

  // The caller's allocator, or the C++ heap. Throws std::bad_alloc.
  void* allocate(size_t size, size_t alignment) const;
  void free(void* memory, size_t size, size_t alignment) const;

  bool wants_log(shw_log_level level) const {
    return options_.log != nullptr && level >= options_.log_level;
  }
  void log(shw_log_level level, const std::string& message,
           SourceLoc loc = SourceLoc::current()) const;

  // The host's threads, if it gave any.
  TaskExecutor tasks() const { return {options_.submit, options_.submit_user}; }

  uint64_t max_text_bytes() const { return options_.max_text_bytes; }
  // Options for CUDA devices; the device number is ignored.
  const runtime::cuda::Options& cuda() const { return cuda_; }

  // The threads of CPU devices.
  runtime::cpu::ProcessWorkers& workers() const { return *workers_; }
  // Connects the parts of worlds; has its own lock.
  runtime::WorldRegistry& worlds() const { return *worlds_; }

 private:
  shw_context_options options_;
  runtime::cuda::Options cuda_;
  mutable std::mutex log_mutex_;
  std::shared_ptr<runtime::cpu::ProcessWorkers> workers_;
  std::shared_ptr<runtime::WorldRegistry> worlds_;
};
using ContextRef = std::shared_ptr<const Context>;

}  // namespace shw::capi

struct shw_context {
  shw::capi::ContextRef ref;
};
