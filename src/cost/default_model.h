// The model of collectives for a cluster that nothing is known of: one bandwidth inside a host, one
// between hosts, a latency per hop. PyTorch's (torch/distributed/tensor/_collective_utils.py): the
// fallback of the reference planner.
#pragma once
#include "cost/price_term.h"

namespace shw::cost {

inline constexpr int64_t kDefaultDevicesPerHost = 8;

// The one term of a collective among `ranks` ≥ 2 ranks, some of which sit on another host or not.
PriceTerm default_model_term(int64_t ranks, bool crosses_hosts, Collective collective);

}  // namespace shw::cost
