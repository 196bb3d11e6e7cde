// Channels over NCCL.
//
// Each rank has a thread that makes its communicators. It first makes one of all ranks; the ranks
// exchange its id over `control`, which connects the same ranks in host memory. It then splits one
// off for each group. So making a channel does not wait for other ranks, and one thread can make
// the channels of several ranks. The first launch waits until its communicator exists.
//
// The same thread monitors the communicators. It ends all communicators of the rank after an error
// of one of them, after an abort by any rank (which `control` carries), and when a collective
// exceeds the time-out.
#pragma once
#include <memory>

#include "runtime/channel.h"
#include "runtime/collective/log.h"
#include "runtime/cuda/plugin/context.h"

namespace shw::runtime::cuda {

// `timeout`: for a collective, from its dispatch to its end; zero or less: no limit. Creating the
// first channel fails with UNAVAILABLE if NCCL is missing or too old.
std::unique_ptr<ChannelProvider> make_channels(std::shared_ptr<Context> context,
                                               std::unique_ptr<ChannelProvider> control,
                                               Timeout timeout);

}  // namespace shw::runtime::cuda
