// What a world is behind its handle: who meets whom.
//
// The n-th executors that the ranks make in a world form its n-th job, with channels of its own, so
// that plans do not hear each other. As communicators are made in NCCL, only the order says who
// belongs together; the plans' hashes are compared, because ranks with different plans would wait
// for each other for ever.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "context.h"
#include "plan.h"
#include "runtime/collective/local.h"
#include "shardwise/runtime.h"

namespace shw::capi {

class World {
 public:
  World(ContextRef context, int32_t num_ranks)
      : context_(std::move(context)), next_job_(static_cast<size_t>(num_ranks)) {}

  const ContextRef& context() const { return context_; }
  int32_t num_ranks() const { return static_cast<int32_t>(next_job_.size()); }

  // `rank` takes its place in its next job; end_join() must follow, and say whether the executor
  // came about. One rank's calls do not overlap.
  Result<std::unique_ptr<runtime::ChannelProvider>> begin_join(const LoadedPlan& plan,
                                                               int32_t rank);
  void end_join(int32_t rank, bool has_joined);

 private:
  struct Job {
    std::shared_ptr<runtime::LocalHub> hub;
    uint64_t graph_hash, options_hash, mesh_hash;
    int32_t first_rank;
    int32_t num_joining = 0, num_joined = 0;
  };
  static Status check_same_plan(const Job& job, const PlanSummary& summary, int32_t rank);

  ContextRef context_;
  std::mutex mutex_;
  std::vector<uint64_t> next_job_;  // by rank
  std::map<uint64_t, Job> jobs_;    // that some rank has not joined yet
};

}  // namespace shw::capi

struct shw_world {
  std::shared_ptr<shw::capi::World> ref;
};
