// Channels between ranks of one process, through shared memory, without copies beyond those that a
// collective requires.
//
// Results have the same bits on every run: members are reduced in the order of their numbers,
// whichever thread does the work.
#pragma once
#include <memory>

#include "runtime/channel.h"
#include "runtime/collective/log.h"

namespace shw::runtime {

// Connects the ranks of one job. Any thread.
class LocalHub {
 public:
  static std::shared_ptr<LocalHub> create(Mesh mesh, Timeout timeout = {});
  virtual ~LocalHub() = default;
  // Creates the provider of a rank, which keeps the hub alive. Call it once per rank, with `rank`
  // below the number of ranks of the mesh.
  virtual std::unique_ptr<ChannelProvider> provider(int64_t rank) = 0;
  // Ends running and future collectives, permanently.
  virtual void close(const Status& cause) = 0;
};

}  // namespace shw::runtime
