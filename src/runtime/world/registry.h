// Worlds in one process whose parts find each other by an id. For threads that share no handle,
// each with its own ranks; NCCL communicators are created in the same way.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "runtime/world/world.h"

namespace shw::runtime {

using WorldId = std::array<uint8_t, 128>;  // random; as large as NCCL's

class WorldRegistry {
 public:
  WorldId make_id();

  // Returns the world of this id; `local_ranks` are the caller's ranks. The first call creates the
  // world with its options. The world lives as long as any of its parts. Does not wait for other
  // parts. FAILED_PRECONDITION: the id is not from this registry, or the parts disagree on the
  // number of ranks. ALREADY_EXISTS: another part has one of the ranks. OUT_OF_RANGE: there is no
  // such rank.
  Result<std::shared_ptr<World>> join(const WorldId& id, int64_t num_ranks,
                                      std::span<const int64_t> local_ranks,
                                      const WorldOptions& options);

 private:
  struct Known;
  std::mutex mutex_;
  std::map<WorldId, std::weak_ptr<Known>> known_;  // expired: no part exists at present
};

}  // namespace shw::runtime
