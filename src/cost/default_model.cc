#include "cost/default_model.h"

namespace shw::cost {
namespace {

constexpr double kBaseUs = 6.6;  // NCCL's ring, protocol LL
constexpr double kIntraHopUs = 0.6, kInterHopUs = 2.7;
constexpr double kIntraRate = 87.7;  // "GB/s" there, but applied to GiB
constexpr double kInterRate = 87.7 * 0.22;
constexpr double kBytesPerGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kAllToAllPenalty = 5;  // against an all-gather: so that the planner avoids it

}  // namespace

PriceTerm default_model_term(int64_t ranks, bool crosses_hosts, Collective collective) {
  const double hops = static_cast<double>(ranks - 1);
  const double rounds = collective == Collective::kAllReduce ? 2 : 1;
  const double penalty = collective == Collective::kAllToAll ? kAllToAllPenalty : 1;
  const double share = rounds * hops / static_cast<double>(ranks);
  const double rate = crosses_hosts ? kInterRate : kIntraRate;
  const double hop_us = crosses_hosts ? kInterHopUs : kIntraHopUs;
  return {.latency_us = penalty * (kBaseUs + rounds * hops * hop_us),
          .us_per_byte = penalty * share / rate * 1e6 / kBytesPerGiB};
}

}  // namespace shw::cost
