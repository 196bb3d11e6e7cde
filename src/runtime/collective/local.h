// Channels between ranks that live in one process: shared memory, own code, no copies beyond those
// the collective means.
//
// Results are the same bits on every run: members are reduced in the order of their numbers,
// whoever does the work.
#pragma once
#include <memory>

#include "runtime/channel.h"
#include "runtime/collective/log.h"

namespace shw::runtime {

// Where the ranks of one job meet. Any thread.
class LocalHub {
 public:
  static std::shared_ptr<LocalHub> create(Mesh mesh, Timeout timeout = {});
  virtual ~LocalHub() = default;
  // One for each rank; keeps the hub alive. `rank` < the mesh's number of ranks.
  virtual std::unique_ptr<ChannelProvider> provider(int64_t rank) = 0;
  // Ends collectives that run or come, for good.
  virtual void close(const Status& cause) = 0;
};

}  // namespace shw::runtime
