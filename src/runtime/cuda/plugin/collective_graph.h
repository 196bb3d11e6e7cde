// A graph with collectives, as its rank's communicators see it (communicators.h).
//
// They watch its collectives from each launch on, and they end it: a communicator that is aborted
// waits until no graph has its collectives any more (NCCL: commDestroySync), so a graph that its
// owner still holds would hang the abort.
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
  uint64_t generation = 0;              // of the communicators that were captured
  std::vector<Collective> collectives;  // in the order of the capture
  GraphExecHandle exec = nullptr;       // null: not made yet, or ended. Under the job's lock
};

}  // namespace shw::runtime::cuda
