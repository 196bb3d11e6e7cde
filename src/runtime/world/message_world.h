// A world of processes, one rank each, that exchange messages over a transport.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/world/transport.h"
#include "runtime/world/world.h"

namespace shw::runtime {

class ProcessWorld : public World {
 public:
  virtual int64_t rank() const = 0;
  // This rank's index among the ranks on its host, in the order of ranks; 0 for the first.
  virtual int64_t rank_on_host() const = 0;
  // Sends every rank's bytes to rank 0, which gets them by rank; other ranks get nothing. All ranks
  // must call it in the same order, each from one thread at a time.
  virtual Result<std::vector<std::vector<std::byte>>> gather_at_root(
      std::span<const std::byte> mine) = 0;
};

// When the world is destroyed, its transport is closed: in an orderly way if every rank destroys
// the world within the time-out; without waiting for other ranks after an abort.
Result<std::shared_ptr<ProcessWorld>> create_message_world(std::unique_ptr<Transport> transport,
                                                           const WorldOptions& options);

}  // namespace shw::runtime
