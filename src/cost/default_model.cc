#include "cost/default_model.h"

namespace shw::cost {

PriceTerm default_model_term(const RingConfig& ring, int64_t ranks, bool crosses_nodes,
                             Collective collective) {
  const double rate = (crosses_nodes ? ring.bw_inter_gbps : ring.bw_intra_gbps) * 1e9;
  const double hop_us = crosses_nodes ? ring.inter_hop_us : ring.intra_hop_us;
  // A message by Hockney's model: start-up and a hop, then all bytes at the link's rate (R.
  // Hockney, The communication challenge for MPP, Parallel Computing 20(3), 1994).
  if (collective == Collective::kPermute)
    return {.latency_us = ring.start_us + hop_us, .us_per_byte = 1 / rate * 1e6};
  const double hops = static_cast<double>(ranks - 1);
  const double rounds = collective == Collective::kAllReduce ? 2 : 1;
  const double penalty = collective == Collective::kAllToAll ? ring.all_to_all_factor : 1;
  const double share = rounds * hops / static_cast<double>(ranks);
  return {.latency_us = penalty * (ring.start_us + rounds * hops * hop_us),
          .us_per_byte = penalty * share / rate * 1e6};
}

}  // namespace shw::cost
