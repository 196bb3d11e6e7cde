// Code that explanations share.
#pragma once
#include "answers/edges.h"
#include "boundary.h"
#include "shardwise/explanation.h"

namespace shw::capi {

// The strings are owned by `edge`.
shw_explanation_edge to_c(const answers::EdgePrice& edge);

// The size in the first release.
inline constexpr size_t kEdgeSize_0_2 = SHW_SIZE_TO(shw_explanation_edge, transition_us);

}  // namespace shw::capi
