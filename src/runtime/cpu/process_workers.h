// Workers that CPU devices share within a process. A forked child has the parent's memory but none
// of its threads, so the parent's workers cannot be used there: the child gets its own.
#pragma once
#include <atomic>
#include <memory>

#include "runtime/cpu/device.h"

namespace shw::runtime::cpu {

class ProcessWorkers {
 public:
  ProcessWorkers();
  ~ProcessWorkers();
  ProcessWorkers(const ProcessWorkers&) = delete;
  ProcessWorkers& operator=(const ProcessWorkers&) = delete;

  // The workers of this process. Any thread. Takes no lock, because another thread of the parent
  // might have held it during the fork.
  std::shared_ptr<Workers> get();

 private:
  struct Made;
  std::atomic<const Made*> made_;
};

}  // namespace shw::runtime::cpu
