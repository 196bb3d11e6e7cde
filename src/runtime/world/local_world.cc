// A world whose ranks are all in this process.
#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include "runtime/collective/local.h"
#include "runtime/world/world.h"

namespace shw::runtime {
namespace {

class LocalWorld final : public World {
 public:
  LocalWorld(int64_t num_ranks, const WorldOptions& options)
      : options_(options),
        ranks_(static_cast<size_t>(num_ranks)),
        next_job_(static_cast<size_t>(num_ranks)) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }
  int64_t num_ranks() const override { return static_cast<int64_t>(ranks_.size()); }
  Timeout timeout() const override { return options_.timeout; }
  std::span<const int64_t> local_ranks() const override { return ranks_; }

  Result<std::unique_ptr<ChannelProvider>> begin_join(int64_t rank, const Mesh& mesh,
                                                      const ProgramIdentity& program) override {
    SHW_RETURN_IF_ERROR(check_rank(rank, num_ranks(), mesh));
    const std::scoped_lock lock(mutex_);
    if (!cause_.ok()) return cause_;
    const uint64_t number = next_job_[static_cast<size_t>(rank)];
    auto it = jobs_.find(number);
    if (it != jobs_.end())
      SHW_RETURN_IF_ERROR(
          check_same_program(rank, program, it->second.first_rank, it->second.program));
    auto hub = it != jobs_.end() ? it->second.hub : LocalHub::create(mesh, options_.timeout);
    auto provider = hub->provider(rank);
    if (it == jobs_.end()) {
      std::erase_if(hubs_, [](const auto& weak) { return weak.expired(); });
      hubs_.push_back(hub);
      it = jobs_.emplace(number, Job{std::move(hub), program, rank}).first;
    }
    ++it->second.num_joining;
    return provider;
  }

  void end_join(int64_t rank, bool has_joined) override {
    const std::scoped_lock lock(mutex_);
    uint64_t& next = next_job_[static_cast<size_t>(rank)];
    const auto it = jobs_.find(next);
    Job& job = it->second;
    --job.num_joining;
    if (has_joined) {
      ++job.num_joined;
      ++next;
    }
    // Either all ranks have joined, and their executors own the hub; or none has, and the place is
    // free again.
    if (job.num_joining == 0 && (job.num_joined == num_ranks() || job.num_joined == 0))
      jobs_.erase(it);
  }

  void abort(const Status& cause) override {
    std::vector<std::shared_ptr<LocalHub>> doomed;
    {
      const std::scoped_lock lock(mutex_);
      if (!cause_.ok()) return;
      cause_ = cause;
      for (const auto& weak : hubs_)
        if (auto hub = weak.lock(); hub != nullptr) doomed.push_back(std::move(hub));
    }
    for (const auto& hub : doomed) hub->close(cause);
  }

  Status status() const override {
    const std::scoped_lock lock(mutex_);
    return cause_;
  }

 private:
  struct Job {
    std::shared_ptr<LocalHub> hub;
    ProgramIdentity program;
    int64_t first_rank;
    int64_t num_joining = 0, num_joined = 0;
  };

  const WorldOptions options_;
  std::vector<int64_t> ranks_;
  mutable std::mutex mutex_;
  Status cause_;
  std::vector<uint64_t> next_job_;             // by rank
  std::map<uint64_t, Job> jobs_;               // jobs that some rank has not joined yet
  std::vector<std::weak_ptr<LocalHub>> hubs_;  // hubs of all existing jobs
};

}  // namespace

std::shared_ptr<World> create_local_world(int64_t num_ranks, const WorldOptions& options) {
  return std::make_shared<LocalWorld>(num_ranks, options);
}

}  // namespace shw::runtime
