// Workers that CPU devices share, for each process its own. A forked child has the parent's memory
// and none of its threads: there, workers of the parent serve nobody.
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

  // Of this process. Any thread; takes no lock, which another thread of the parent might have held.
  std::shared_ptr<Workers> get();

 private:
  struct Made;
  std::atomic<const Made*> made_;
};

}  // namespace shw::runtime::cpu
