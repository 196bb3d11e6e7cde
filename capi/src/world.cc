// shw_world.
#include "world.h"

namespace shw::capi {
namespace {

constexpr int32_t kMaxRanks = 1 << 20;  // as of a mesh

std::string ranks_text(int64_t count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

}  // namespace

Status World::check_same_plan(const Job& job, const PlanSummary& s, int32_t rank) {
  if (job.graph_hash == s.graph_hash && job.options_hash == s.options_hash &&
      job.mesh_hash == s.mesh_hash)
    return {};
  return failed_precondition(
      "rank " + std::to_string(rank) + " and rank " + std::to_string(job.first_rank) +
      " would run different plans together: graph hashes " + std::to_string(s.graph_hash) +
      " and " + std::to_string(job.graph_hash) + ", options hashes " +
      std::to_string(s.options_hash) + " and " + std::to_string(job.options_hash));
}

Result<std::unique_ptr<runtime::ChannelProvider>> World::begin_join(const LoadedPlan& plan,
                                                                    int32_t rank) {
  if (plan.mesh.num_ranks() != num_ranks())
    return failed_precondition("the plan is for " + ranks_text(plan.mesh.num_ranks()) + " (" +
                               plan.mesh.to_string() + "), the world has " +
                               ranks_text(num_ranks()));
  if (rank < 0 || rank >= num_ranks())
    return Status(Code::kOutOfRange, "there is no rank " + std::to_string(rank) + ": there are " +
                                         std::to_string(num_ranks()));
  const PlanSummary& s = plan.plan.summary;
  const std::scoped_lock lock(mutex_);
  const uint64_t number = next_job_[static_cast<size_t>(rank)];
  auto it = jobs_.find(number);
  if (it != jobs_.end()) SHW_RETURN_IF_ERROR(check_same_plan(it->second, s, rank));
  auto hub = it != jobs_.end() ? it->second.hub : runtime::LocalHub::create(plan.mesh);
  auto provider = hub->provider(rank);
  if (it == jobs_.end())
    it = jobs_.emplace(number, Job{std::move(hub), s.graph_hash, s.options_hash, s.mesh_hash, rank})
             .first;
  ++it->second.num_joining;
  return provider;
}

void World::end_join(int32_t rank, bool has_joined) {
  const std::scoped_lock lock(mutex_);
  uint64_t& next = next_job_[static_cast<size_t>(rank)];
  const auto it = jobs_.find(next);
  Job& job = it->second;
  --job.num_joining;
  if (has_joined) {
    ++job.num_joined;
    ++next;
  }
  // All have come, and their executors keep the hub; or nobody has, and the place is free again.
  if (job.num_joining == 0 && (job.num_joined == num_ranks() || job.num_joined == 0))
    jobs_.erase(it);
}

}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

shw_status* shw_world_create_virtual(shw_context* context, int32_t num_ranks,
                                     shw_world** out_world) {
  return make_handle(out_world, "out_world", [&]() -> Result<std::unique_ptr<shw_world>> {
    SHW_WANT(context);
    if (num_ranks < 1 || num_ranks > kMaxRanks)
      return invalid_argument("num_ranks is " + std::to_string(num_ranks) + ", expected 1 to " +
                              std::to_string(kMaxRanks));
    return std::make_unique<shw_world>(shw_world{std::make_shared<World>(context->ref, num_ranks)});
  });
}

int32_t shw_world_num_ranks(const shw_world* world) { return world ? world->ref->num_ranks() : 0; }

void shw_world_destroy(shw_world* world) { delete world; }
