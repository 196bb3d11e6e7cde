// The model of collectives for a cluster that nothing is known of but its links (RingConfig). With
// the figures that stand there it is PyTorch's, and the fallback of the reference planner.
#pragma once
#include "cost/hardware.h"
#include "cost/price_term.h"

namespace shw::cost {

// The one term of a collective among `ranks` ≥ 2 ranks, some of which sit on another node or not.
PriceTerm default_model_term(const RingConfig& ring, int64_t ranks, bool crosses_nodes,
                             Collective collective);

}  // namespace shw::cost
