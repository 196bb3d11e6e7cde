// Channels over NCCL.
//
// A rank's communicators are made by a thread of its own: first one of all ranks, whose id the
// ranks exchange over `control`, which connects the same ranks in host memory; then one for each
// group, split off it. So making a channel waits for nobody, and one thread can make the channels
// of several ranks. The first launch waits until its communicator is there.
//
// The same thread watches: an error of a communicator, an abort by any rank (which `control`
// carries), and a collective that takes too long end all communicators of the rank.
#pragma once
#include <memory>

#include "runtime/channel.h"
#include "runtime/collective/log.h"
#include "runtime/cuda/plugin/context.h"

namespace shw::runtime::cuda {

// `timeout`: of a collective, from its dispatch to its end; zero or less: none. The first channel
// is UNAVAILABLE where NCCL is missing or too old.
std::unique_ptr<ChannelProvider> make_channels(std::shared_ptr<Context> context,
                                               std::unique_ptr<ChannelProvider> control,
                                               Timeout timeout);

}  // namespace shw::runtime::cuda
