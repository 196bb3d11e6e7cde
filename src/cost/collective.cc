// Builds the price terms of every group of mesh dims, and answers queries.
#include "cost/collective.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "cost/default_model.h"
#include "cost/nccl_model.h"

namespace shw::cost {
namespace {

// The position of a size in a ramp.
struct RampPosition {
  uint32_t by_message, by_rank;
  double fraction;  // towards the next entry; 0 at the last one

  RampPosition(uint64_t bytes, uint64_t ranks) : by_message(step(bytes >> 6)), fraction(0) {
    const uint64_t units = (bytes / ranks) >> 6;
    by_rank = step(units);
    if (by_rank + 1 < kEnd && !std::has_single_bit(units) && units != 0)
      fraction = std::log2(static_cast<double>(units)) - by_rank;
  }
  static constexpr uint32_t kEnd = kRampSizes;
  static uint32_t step(uint64_t units) {
    return units == 0 ? 0 : std::min(static_cast<uint32_t>(std::bit_width(units)) - 1, kEnd);
  }
};

double ramp_at(const Ramp& ramp, RampKind kind, const RampPosition& at) {
  if (kind == RampKind::kStepByMessage) return ramp[at.by_message];
  const double value = ramp[at.by_rank];
  if (kind == RampKind::kStepByRank || at.fraction == 0) return value;
  return value + (ramp[at.by_rank + 1] - value) * at.fraction;
}

constexpr double kPlateauFactor = 1.4;  // NCCL: SIMPLE rings that leave the latency-bound range

double latency_at(const PriceTerm& term, int64_t bytes) {
  return bytes >= term.plateau_bytes ? term.latency_us * kPlateauFactor : term.latency_us;
}

// The measurements of exactly this group, if any.
const MeasuredCollective* measurement_of(const Hardware& hardware, const GroupTopology& group,
                                         Collective collective) {
  const auto at = std::find_if(hardware.measured.begin(), hardware.measured.end(),
                               [&](const MeasuredCollective& m) {
                                 return m.collective == collective && m.nodes == group.nodes &&
                                        m.devices_per_node == group.ranks_per_node &&
                                        m.nodes * m.devices_per_node == group.ranks;
                               });
  return at == hardware.measured.end() ? nullptr : &*at;
}

}  // namespace

uint32_t PriceTerms::add_ramp(const Ramp& ramp) {
  const auto at = std::find(ramps.begin(), ramps.end(), ramp);
  if (at == ramps.end()) {
    ramps.push_back(ramp);
    return static_cast<uint32_t>(ramps.size() - 1);
  }
  return static_cast<uint32_t>(at - ramps.begin());
}

Result<CollectiveModel> CollectiveModel::create(const Hardware& hardware, const Mesh& mesh,
                                                PriceRules rules) {
  SHW_RETURN_IF_ERROR(check_links(hardware));
  const int64_t per_node = hardware.nccl ? hardware.nccl->gpus_per_node : 0;
  const bool fills_nodes = per_node > 0 && mesh.num_ranks() % per_node == 0;
  const bool is_in_one = rules == PriceRules::kFull && mesh.num_ranks() < per_node;
  const bool uses_nccl = fills_nodes || is_in_one;
  return CollectiveModel(hardware, mesh, uses_nccl);
}

CollectiveModel::CollectiveModel(Hardware hardware, Mesh mesh, bool uses_nccl)
    : hardware_(std::move(hardware)), mesh_(std::move(mesh)), uses_nccl_(uses_nccl) {
  groups_ = groups_of(mesh_);
  if (mesh_.num_parts() > 0) groups_by_parts_ = groups_of(mesh_.by_parts());
}

std::vector<CollectiveModel::Group> CollectiveModel::groups_of(const Mesh& mesh) {
  std::vector<Group> groups(size_t{1} << mesh.rank());
  for (uint32_t mask = 1; mask < groups.size(); ++mask) {
    Group& group = groups[mask];
    group.topology = derive_topology(mesh, mask);
    for (size_t c = 0; c < kNumCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      group.terms[c] = add_terms(collective, mesh, mask, group.topology);
      group.basis[c] = basis_of(collective, group.topology);
    }
  }
  return groups;
}

// A run of adjacent mesh dims acts as one mesh dim of their product. If its members are `inner`
// ranks apart, gpus_per_node / inner of them fit on a node (rounded down, as in the reference
// planner); runs multiply.
GroupTopology CollectiveModel::derive_topology(const Mesh& mesh, uint32_t mask) const {
  const int64_t per_node = hardware_.devices_per_node();
  GroupTopology group;
  int64_t inner = 1, run = 1, run_inner = 1;
  for (int d = mesh.rank() - 1; d >= 0; --d) {
    const bool in_group = mask >> d & 1;
    if (in_group) {
      if (run == 1) run_inner = inner;
      run *= mesh.size(d);
    }
    inner *= mesh.size(d);
    if (d == 0 || !(mask >> (d - 1) & 1)) {
      group.ranks *= run;
      group.ranks_per_node *= std::max<int64_t>(1, std::min(per_node / run_inner, run));
      run = 1;
    }
  }
  group.nodes = group.ranks / group.ranks_per_node;
  return group;
}

// The factor by which a collective is slower because ranks share cores, which run the collectives.
// All groups of the mesh communicate at once. But a group that was measured alone had one core per
// rank, or all cores if it has more ranks.
double CollectiveModel::waiting_for_cores(int64_t group_ranks) const {
  const auto cores = static_cast<double>(hardware_.device.shared_cores);
  if (cores == 0) return 1;
  const auto all = static_cast<double>(mesh_.num_ranks()), own = static_cast<double>(group_ranks);
  return std::max(1.0, all / own * std::min(own, cores) / cores);
}

CollectiveModel::TermRange CollectiveModel::add_terms(Collective collective, const Mesh& mesh,
                                                      uint32_t mask, const GroupTopology& group) {
  TermRange range{.first = static_cast<uint32_t>(prices_.terms.size())};
  if (group.ranks == 1) {
    prices_.terms.push_back({});
  } else if (const auto* measured = measurement_of(hardware_, group, collective)) {
    for (const MeasuredCollective::Line& line : measured->lines)
      prices_.terms.push_back(
          {.latency_us = line.latency_us, .us_per_byte = 1 / (1000 * line.bw_gbps)});
  } else if (uses_nccl_) {
    add_nccl_terms(*hardware_.nccl, group, collective, prices_);
  } else {
    int64_t extent = 1;  // number of ranks that the group spans
    for (int d = std::countr_zero(mask); d < mesh.rank(); ++d) extent *= mesh.size(d);
    prices_.terms.push_back(default_model_term(hardware_.ring, group.ranks,
                                               extent > hardware_.devices_per_node(), collective));
  }
  range.count = static_cast<uint32_t>(prices_.terms.size()) - range.first;
  const double longer = waiting_for_cores(group.ranks);
  for (PriceTerm& term : std::span(prices_.terms).subspan(range.first))
    term.latency_us *= longer, term.us_per_byte *= longer;
  for (uint32_t i = range.first; i < range.first + range.count; ++i)
    range.has_ramps |= prices_.terms[i].ramp_kind != RampKind::kNone;
  return range;
}

Basis CollectiveModel::basis_of(Collective collective, const GroupTopology& group) const {
  if (group.ranks == 1) return Basis::kAnalytical;
  if (measurement_of(hardware_, group, collective) != nullptr) return Basis::kMeasured;
  if (uses_nccl_) return nccl_basis(*hardware_.nccl, group, collective);
  // If ranks share cores, all ranks are equivalent, so a model fitted to groups of other sizes
  // applies: the price is interpolated.
  const bool fits = hardware_.device.shared_cores > 0 &&
                    std::ranges::any_of(hardware_.measured, [&](const MeasuredCollective& m) {
                      return m.collective == collective;
                    });
  return fits ? Basis::kInterpolated : Basis::kFallback;
}

bool CollectiveModel::cost_the_same(uint32_t mask_a, uint32_t mask_b) const {
  const Group &a = group(mask_a), &b = group(mask_b);
  const auto terms = [&](TermRange r) {
    return std::span(prices_.terms).subspan(r.first, r.count);
  };
  bool same = a.topology == b.topology;
  for (size_t c = 0; c < a.terms.size(); ++c)
    same = same && std::ranges::equal(terms(a.terms[c]), terms(b.terms[c]));
  return same;
}

double CollectiveModel::us_combined(Collective collective, uint32_t axes_mask,
                                    int64_t bytes) const {
  const Group& of = group(axes_mask);
  const TermRange range = of.terms[static_cast<size_t>(collective)];
  const PriceTerm* const terms = prices_.terms.data() + range.first;
  const double size = static_cast<double>(bytes);
  double best = std::numeric_limits<double>::infinity();
  if (!range.has_ramps) {
    for (uint32_t i = 0; i < range.count; ++i)
      best = std::min(best, latency_at(terms[i], bytes) + size * terms[i].us_per_byte);
    return best;
  }
  const RampPosition at(static_cast<uint64_t>(bytes), static_cast<uint64_t>(of.topology.ranks));
  for (uint32_t i = 0; i < range.count; ++i) {
    const PriceTerm& term = terms[i];
    double us = size * term.us_per_byte;
    if (term.ramp_kind != RampKind::kNone)
      us /= ramp_at(prices_.ramps[term.ramp], term.ramp_kind, at);
    best = std::min(best, latency_at(term, bytes) + us);
  }
  return best;
}

}  // namespace shw::cost
