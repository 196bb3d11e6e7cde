// How much less time steps take in a group that the device runs as one loop than one by one.
#pragma once
#include "support/status.h"

namespace shw::measure {

// The time of a group's loop over the sum of the times of its steps, each by itself, with all data
// in the cache: the geometric mean of groups that training steps of transformers are made of, in
// f32. At most 1.
Result<double> measure_fused_share();

}  // namespace shw::measure
