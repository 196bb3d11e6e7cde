// Channels of one rank without any other ranks: collectives are counted, and nothing is sent.
#pragma once
#include "runtime/channel.h"
#include "runtime/null/device.h"

namespace shw::runtime::null {

// Adds to the counts of `device`.
std::unique_ptr<ChannelProvider> make_channels(const NullDevice& device, Mesh mesh, int64_t rank);

}  // namespace shw::runtime::null
