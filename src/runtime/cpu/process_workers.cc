#include "runtime/cpu/process_workers.h"

#include <unistd.h>

namespace shw::runtime::cpu {

struct ProcessWorkers::Made {
  pid_t process = ::getpid();
  std::shared_ptr<Workers> workers = make_workers();
};

ProcessWorkers::ProcessWorkers() : made_(new Made) {}

ProcessWorkers::~ProcessWorkers() {
  // Workers of a parent process are not destroyed: their threads cannot be joined here.
  if (const Made* made = made_; made->process == ::getpid()) delete made;
}

std::shared_ptr<Workers> ProcessWorkers::get() {
  const Made* made = made_;
  if (made->process == ::getpid()) return made->workers;
  auto fresh = std::make_unique<const Made>();
  if (!made_.compare_exchange_strong(made, fresh.get())) return made->workers;
  return fresh.release()->workers;
}

}  // namespace shw::runtime::cpu
