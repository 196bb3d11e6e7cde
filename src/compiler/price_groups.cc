#include "compiler/price_groups.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "placement/kernel_work.h"

namespace shw {
namespace {

std::vector<OptionalType> types_of(const Program& p, std::span<const ValueId> values) {
  std::vector<OptionalType> types;
  for (const ValueId v : values)
    types.push_back(v.valid() ? OptionalType(p.values[v].type) : OptionalType());
  return types;
}

// The time of one step in its group, excluding the traffic of the group. A step that is not part of
// a fused loop takes as long as it would alone with its data in the cache.
std::optional<double> step_us(const Program& p, const ProgramStep& step,
                              const cost::Roofline& roofline) {
  const auto op = op_from_name(step.kernel);
  if (!op) return std::nullopt;
  const std::vector<OptionalType> operands = types_of(p, step.inputs),
                                  results = types_of(p, step.outputs);
  const auto works = kernel_works(*op, {operands, &step.attrs}, results);
  if (works.size() == 1)
    if (const auto us = roofline.fused_us(works[0])) return us;
  std::optional<double> us = roofline.cached_us(works);
  if (us) us = std::max(*us - roofline.launch_us(), 0.0);
  return us;
}

// The data that enters and leaves a group.
struct Traffic {
  double memory_bytes = 0;  // of storages that other steps use too, each once
  double stream_us = 0;     // to load and store their values in the cache
};
Traffic traffic_of(const Program& p, const FusedGroup& group, const cost::Roofline& roofline) {
  std::vector<StorageId> seen;
  Traffic traffic;
  const auto add = [&](std::span<const ValueId> values) {
    for (const ValueId v : values) {
      if (!v.valid() || p.lies_in(v, StorageKind::kGroup)) continue;
      if (std::ranges::find(seen, p.values[v].storage) != seen.end()) continue;
      seen.push_back(p.values[v].storage);
      const auto bytes = static_cast<double>(p.values[v].type.bytes());
      traffic.memory_bytes += bytes;
      traffic.stream_us += roofline.stream_us(bytes);
    }
  };
  for (uint32_t s = group.first_step; s < group.first_step + group.num_steps; ++s) {
    add(p.steps[s].inputs);
    add(p.steps[s].outputs);
  }
  return traffic;
}

// For devices whose pointwise kernels were not measured one by one. Such a device runs a group as
// one kernel, whose time is that of the data that enters and leaves it. The time is divided among
// the steps in proportion to what each would take alone.
void price_by_bytes(Program& p, const FusedGroup& group, const cost::Roofline& roofline) {
  const std::span<ProgramStep> steps(&p.steps[group.first_step], group.num_steps);
  double sum = 0;
  for (const ProgramStep& step : steps) sum += step.cost_us;
  if (sum == 0) return;
  const double whole = roofline.rw_us(traffic_of(p, group, roofline).memory_bytes);
  for (ProgramStep& step : steps) step.cost_us *= whole / sum;
}

}  // namespace

void price_groups(Program& p, const cost::Roofline& roofline) {
  if (!roofline.has_kernels()) return;
  for (const FusedGroup& group : p.fused_groups) {
    if (!roofline.has_copies()) {
      price_by_bytes(p, group, roofline);
      continue;
    }
    std::vector<double> us;
    double sum = 0;
    for (uint32_t s = 0; s < group.num_steps; ++s) {
      const auto one = step_us(p, p.steps[group.first_step + s], roofline);
      if (!one) break;
      us.push_back(*one);
      sum += *one;
    }
    if (us.size() < group.num_steps || sum == 0) continue;
    const Traffic traffic = traffic_of(p, group, roofline);
    const double whole = std::max(roofline.launch_us() + sum + traffic.stream_us,
                                  roofline.rw_us(traffic.memory_bytes));
    for (uint32_t s = 0; s < group.num_steps; ++s)
      p.steps[group.first_step + s].cost_us = us[s] * (whole / sum);
  }
}

}  // namespace shw
