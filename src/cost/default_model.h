// A model of collectives for clusters where only the links are known (RingConfig). With the default
// parameters it is PyTorch's model, which the reference planner falls back to.
#pragma once
#include "cost/hardware.h"
#include "cost/price_term.h"

namespace shw::cost {

// The term of a collective among `ranks` ≥ 2 ranks, within one node or across several.
PriceTerm default_model_term(const RingConfig& ring, int64_t ranks, bool crosses_nodes,
                             Collective collective);

}  // namespace shw::cost
