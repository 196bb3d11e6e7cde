// Meshes from the caller's axes.
#pragma once
#include "boundary.h"
#include "sharding/layout.h"
#include "shardwise/compile.h"

namespace shw::capi {

// No axes: one rank. INVALID_ARGUMENT: an axis without a name or a size, a name twice.
Result<Mesh> mesh_of(const shw_mesh_axis* mesh_axes, size_t count);

}  // namespace shw::capi
