// Measures the forward half and the backward half of a training step. The counting rule is the one
// of the PyTorch figures in shared/data/passes, so the figures can be compared. The rule counts
// storages, each at its full size, in the order of the program. A peak includes scratch (also the
// scratch of fused groups), inputs and outputs, but no parameters and no buffers. The forward peak
// excludes tangents, and the backward peak excludes results. The backward half begins at the first
// step of the backward pass that reads a tangent.
#pragma once
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "plan/port_uses.h"
#include "plan/program.h"
#include "simulate/live_bytes.h"

namespace shw::testing {

inline bool is_backward(const ProgramStep& step) { return step.phase != 0; }

// Other backward steps do not mark the beginning: recomputed values, and values that depend on
// parameters alone, may be computed before the forward pass is over.
inline bool begins_backward(const Program& p, const ProgramStep& step) {
  return is_backward(step) && touches(p, step.inputs, PortRole::kTangent);
}

struct Half {
  int64_t peak_bytes = 0;
  // `gathers`: the number of all-gathers of parameters; `gathered`: how many parameters they
  // gather.
  uint32_t gathers = 0, gathered = 0;
};

class Halves {
 public:
  explicit Halves(const Program& p) : p_(p), touched_(touched_storages(p)), of_(p.storages.size()) {
    for (uint32_t i = 0; i < p.steps.size(); ++i)
      if (first_backward_ == UINT32_MAX && begins_backward(p, p.steps[i])) first_backward_ = i;
    find_sources();
    find_peaks();
  }
  const Half& forward() const { return halves_[0]; }
  const Half& backward() const { return halves_[1]; }

 private:
  uint32_t storage(ValueId v) const { return p_.values[v].storage.v; }

  // The port of the one parameter that a storage depends on. kNothing: it depends on no input.
  // kMany: it depends on several parameters or on something that is no parameter.
  static constexpr uint32_t kNothing = UINT32_MAX, kMany = UINT32_MAX - 1;
  void find_sources() {
    std::fill(of_.begin(), of_.end(), kNothing);
    for (uint32_t s = 0; s < of_.size(); ++s) {
      const ProgramStorage& x = p_.storages[StorageId{s}];
      if (x.kind != StorageKind::kInput) continue;
      of_[s] = p_.ports[PortId{x.port}].role == PortRole::kParameter ? x.port : kMany;
    }
    std::set<uint32_t> gathered[2];
    for (const ProgramStep& step : p_.steps) {
      uint32_t from = kNothing;
      for (ValueId v : step.inputs)
        if (v.valid()) from = from == kNothing || from == of_[storage(v)] ? of_[storage(v)] : kMany;
      for (ValueId v : step.outputs)
        if (v.valid()) of_[storage(v)] = from;
      if (step.collective.kind != CollectiveKind::kAllGather || from >= kMany) continue;
      ++halves_[is_backward(step)].gathers;
      gathered[is_backward(step)].insert(from);
    }
    for (size_t h = 0; h < 2; ++h) halves_[h].gathered = static_cast<uint32_t>(gathered[h].size());
  }

  void find_peaks() {
    const auto end = static_cast<uint32_t>(p_.steps.size());
    for (size_t h = 0; h < 2; ++h) {
      const uint32_t first = h == 0 ? 0 : first_backward_, last = h == 0 ? first_backward_ : end;
      std::vector<int64_t> live(end + 2, 0);
      for (uint32_t s = 0; s < of_.size(); ++s) {
        const ProgramStorage& x = p_.storages[StorageId{s}];
        Touched t = touched_[s];
        if (t.first > t.last) continue;
        if (x.kind == StorageKind::kInput) {
          const PortRole role = p_.ports[PortId{x.port}].role;
          if (role != PortRole::kInput && (role != PortRole::kTangent || h == 0)) continue;
          t.first = 0;
          if (role == PortRole::kInput) t.last = end;
        } else if (x.kind == StorageKind::kOutput) {
          if (p_.ports[PortId{x.port}].role == PortRole::kResult && h == 1) continue;
          t.last = end;
        } else if (x.kind != StorageKind::kArena && x.kind != StorageKind::kGroup) {
          continue;
        }
        live[t.first] += x.bytes;
        live[t.last + 1] -= x.bytes;
      }
      int64_t sum = 0;
      for (uint32_t i = 0; i < last; ++i) {
        sum += live[i];
        if (i >= first) halves_[h].peak_bytes = std::max(halves_[h].peak_bytes, sum);
      }
    }
  }

  const Program& p_;
  const std::vector<Touched> touched_;
  std::vector<uint32_t> of_;
  uint32_t first_backward_ = UINT32_MAX;
  Half halves_[2];
};

}  // namespace shw::testing
