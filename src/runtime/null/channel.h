// Channels of one rank without the other ranks: collectives are counted, and nothing is sent.
#pragma once
#include "runtime/channel.h"
#include "runtime/null/device.h"

namespace shw::runtime::null {

// For `rank` of `mesh`. Counts into the device's counts.
std::unique_ptr<ChannelProvider> make_channels(const NullDevice& device, Mesh mesh, int64_t rank);

}  // namespace shw::runtime::null
