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
  // Among the ranks on the same host, in the order of their ranks: 0 for the first.
  virtual int64_t rank_on_host() const = 0;
  // Brings bytes of every rank to rank 0, by rank there; nothing elsewhere. All ranks call it, one
  // after another where several do, and no other thread of theirs does.
  virtual Result<std::vector<std::vector<std::byte>>> gather_at_root(
      std::span<const std::byte> mine) = 0;
};

// When the world is destroyed, its transport is closed: in order if every rank destroys it within
// the time-out, and without waiting for anybody after an abort.
Result<std::shared_ptr<ProcessWorld>> create_message_world(std::unique_ptr<Transport> transport,
                                                           const WorldOptions& options);

}  // namespace shw::runtime
