// Worlds of one process that their parts find by an id: threads that share no handle, each with
// ranks of its own, as hosts of several GPUs make NCCL communicators.
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

  // The world of this id, of which `local_ranks` are the caller's. The first call makes it, with
  // its options; it lives as long as one of its parts. Waits for nobody. FAILED_PRECONDITION: the
  // id is not this registry's, or the parts disagree on the number of ranks. ALREADY_EXISTS:
  // another part has one of the ranks. OUT_OF_RANGE: there is no such rank.
  Result<std::shared_ptr<World>> join(const WorldId& id, int64_t num_ranks,
                                      std::span<const int64_t> local_ranks,
                                      const WorldOptions& options);

 private:
  struct Known;
  std::mutex mutex_;
  std::map<WorldId, std::weak_ptr<Known>> known_;  // expired: of no part at present
};

}  // namespace shw::runtime
