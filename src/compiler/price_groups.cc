#include "compiler/price_groups.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "placement/kernel_work.h"

namespace shw {
namespace {

std::vector<OptionalType> types_of(const Program& p, const std::vector<ValueId>& values) {
  std::vector<OptionalType> types;
  for (const ValueId v : values)
    types.push_back(v.valid() ? OptionalType(p.values[v].type) : OptionalType());
  return types;
}

std::optional<double> cached_us(const Program& p, const ProgramStep& step,
                                const cost::Roofline& roofline) {
  const auto op = op_from_name(step.kernel);
  if (!op) return std::nullopt;
  const std::vector<OptionalType> operands = types_of(p, step.inputs),
                                  results = types_of(p, step.outputs);
  return roofline.cached_us(kernel_works(*op, {operands, &step.attrs}, results));
}

// Of the storages that not only the group sees, each once.
double memory_bytes(const Program& p, const FusedGroup& group) {
  std::vector<StorageId> seen;
  double bytes = 0;
  const auto add = [&](const std::vector<ValueId>& values) {
    for (const ValueId v : values) {
      if (!v.valid() || p.lies_in(v, StorageKind::kGroup)) continue;
      if (std::ranges::find(seen, p.values[v].storage) != seen.end()) continue;
      seen.push_back(p.values[v].storage);
      bytes += static_cast<double>(p.values[v].type.bytes());
    }
  };
  for (uint32_t s = group.first_step; s < group.first_step + group.num_steps; ++s) {
    add(p.steps[s].inputs);
    add(p.steps[s].outputs);
  }
  return bytes;
}

}  // namespace

void price_groups(Program& p, const cost::Roofline& roofline) {
  if (!roofline.has_kernels()) return;
  for (const FusedGroup& group : p.fused_groups) {
    std::vector<double> us;
    double sum = 0;
    for (uint32_t s = 0; s < group.num_steps; ++s) {
      const auto one = cached_us(p, p.steps[group.first_step + s], roofline);
      if (!one) break;
      us.push_back(*one * roofline.fused_share());
      sum += us.back();
    }
    if (us.size() < group.num_steps || sum == 0) continue;
    const double longer = std::max(1.0, roofline.rw_us(memory_bytes(p, group)) / sum);
    for (uint32_t s = 0; s < group.num_steps; ++s)
      p.steps[group.first_step + s].cost_us = us[s] * longer;
  }
}

}  // namespace shw
