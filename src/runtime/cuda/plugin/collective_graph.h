// A graph with collectives, as registered with the rank's communicators (communicators.h).
//
// The communicators watch the graph's collectives from each launch on. They also destroy the graph:
// an abort of a communicator waits until no graph contains its collectives (NCCL: commDestroySync),
// so a graph that its owner still held would block the abort for ever.
#pragma once
#include <memory>
#include <vector>

#include "runtime/collective/log.h"
#include "runtime/cuda/plugin/driver.h"

namespace shw::runtime::cuda {

class Communicators;
struct Group;

struct CollectiveGraph {
  struct Collective {
    std::shared_ptr<Group> group;
    CollectiveRecord record;
  };
  std::shared_ptr<Communicators> job;
  uint64_t generation = 0;              // of the captured communicators
  std::vector<Collective> collectives;  // in capture order
  GraphExecHandle exec = nullptr;       // null: not made yet, or destroyed. Under the job's lock
};

}  // namespace shw::runtime::cuda
