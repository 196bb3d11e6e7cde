// Meshes from the caller's axes.
#pragma once
#include "boundary.h"
#include "sharding/layout.h"
#include "shardwise/compile.h"

namespace shw::capi {

// No axes: a single rank. INVALID_ARGUMENT: an axis has no name or no size, or a name occurs twice.
Result<Mesh> mesh_of(const shw_mesh_axis* mesh_axes, size_t count);

}  // namespace shw::capi
