#include "runtime/world/registry.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace shw::runtime {

struct WorldRegistry::Known {
  Known(int64_t num_ranks, const WorldOptions& options)
      : world(create_local_world(num_ranks, options)) {}
  const std::shared_ptr<World> world;
  std::mutex mutex;
  std::set<int64_t> taken;  // ranks that belong to a part
};

namespace {

// One part of a world: the whole world, with the ranks of one caller as its local ranks.
template <class Known>
class Part final : public World {
 public:
  Part(std::shared_ptr<Known> known, std::vector<int64_t> local_ranks)
      : known_(std::move(known)), local_ranks_(std::move(local_ranks)) {}
  ~Part() override {
    const std::scoped_lock lock(known_->mutex);
    for (int64_t rank : local_ranks_) known_->taken.erase(rank);
  }
  int64_t num_ranks() const override { return known_->world->num_ranks(); }
  Timeout timeout() const override { return known_->world->timeout(); }
  std::span<const int64_t> local_ranks() const override { return local_ranks_; }

  Result<std::unique_ptr<ChannelProvider>> begin_join(int64_t rank, const Mesh& mesh,
                                                      const ProgramIdentity& program) override {
    SHW_RETURN_IF_ERROR(check_rank(rank, num_ranks(), mesh));
    if (!std::ranges::binary_search(local_ranks_, rank))
      return Status(Code::kOutOfRange,
                    "rank " + std::to_string(rank) + " belongs to another part of the world");
    return known_->world->begin_join(rank, mesh, program);
  }
  void end_join(int64_t rank, bool has_joined) override {
    known_->world->end_join(rank, has_joined);
  }
  void abort(const Status& cause) override { known_->world->abort(cause); }
  Status status() const override { return known_->world->status(); }

 private:
  const std::shared_ptr<Known> known_;
  const std::vector<int64_t> local_ranks_;  // ascending
};

}  // namespace

WorldId WorldRegistry::make_id() {
  WorldId id;
  std::random_device random;
  for (uint8_t& byte : id) byte = static_cast<uint8_t>(random());
  const std::scoped_lock lock(mutex_);
  known_.try_emplace(id);
  return id;
}

Result<std::shared_ptr<World>> WorldRegistry::join(const WorldId& id, int64_t num_ranks,
                                                   std::span<const int64_t> local_ranks,
                                                   const WorldOptions& options) {
  std::vector<int64_t> ranks(local_ranks.begin(), local_ranks.end());
  std::ranges::sort(ranks);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0 || ranks[i] >= num_ranks)
      return Status(Code::kOutOfRange, "there is no rank " + std::to_string(ranks[i]) +
                                           ": there are " + std::to_string(num_ranks));
    if (i > 0 && ranks[i] == ranks[i - 1])
      return invalid_argument("local rank " + std::to_string(ranks[i]) + " is given twice");
  }
  const std::scoped_lock lock(mutex_);
  const auto it = known_.find(id);
  if (it == known_.end())
    return failed_precondition(
        "the id is of another context or process: ids work in the context that made them, and "
        "processes meet by MPI");
  auto known = it->second.lock();
  if (known == nullptr) it->second = known = std::make_shared<Known>(num_ranks, options);
  if (known->world->num_ranks() != num_ranks)
    return failed_precondition("another part of the world says that there are " +
                               std::to_string(known->world->num_ranks()) + " ranks, not " +
                               std::to_string(num_ranks));
  const std::scoped_lock taking(known->mutex);
  for (int64_t rank : ranks)
    if (known->taken.contains(rank))
      return Status(Code::kAlreadyExists,
                    "rank " + std::to_string(rank) + " belongs to another part of the world");
  auto part = std::make_shared<Part<Known>>(known, ranks);
  known->taken.insert(ranks.begin(), ranks.end());
  return std::shared_ptr<World>(std::move(part));
}

}  // namespace shw::runtime
