#include "measure/groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "measure/probe.h"

namespace shw::measure {
namespace {

constexpr int64_t kGroupRows = 64, kGroupWidth = 512,
                  kGroupSlices = 4;  // 128 KiB an operand: in the cache

Attrs attr(AttrKey key, AttrValue value) {
  Attrs attrs;
  attrs.set(key, std::move(value));
  return attrs;
}
Attrs along_rows() {
  Attrs attrs = attr(AttrKey::kDims, std::vector<int64_t>{1});
  attrs.set(AttrKey::kKeepDim, true);
  return attrs;
}

TensorType whole() { return row_major(Dtype::kF32, {kGroupRows, kGroupWidth}); }
TensorType rows() { return row_major(Dtype::kF32, {kGroupRows, 1}); }
TensorType columns() { return row_major(Dtype::kF32, {kGroupWidth}); }

// A step of a group, whose operands are sources and results of earlier steps.
struct Member {
  std::string kernel;
  std::vector<ValueId> inputs;
  TensorType result;
  Attrs attrs = {};
};

// An entry of these steps, the last of which has the only result that others may read.
class GroupMaker {
 public:
  explicit GroupMaker(ProbeMaker& maker) : maker_(maker), p_(maker.program()) {}

  // The result of a step that the group alone sees, or of its last.
  ValueId add(Member member, bool is_last = false) {
    const int64_t bytes = member.result.bytes(), room = padded_bytes(p_, bytes);
    const StorageId storage = p_.storages.push_back(
        {bytes, is_last || !fused_ ? StorageKind::kArena : StorageKind::kGroup, UINT32_MAX, used_});
    ProgramStep step;
    step.kernel = std::move(member.kernel);
    step.inputs = std::move(member.inputs);
    step.attrs = std::move(member.attrs);
    step.outputs = {p_.values.push_back({member.result, storage, 0})};
    p_.steps.push_back(step);
    used_ += room;
    return step.outputs[0];
  }

  // The entry's number; `make` adds the steps.
  template <class Make>
  size_t entry(bool fused, const Make& make) {
    fused_ = fused;
    used_ = 0;
    ProgramEntry& entry = p_.entries.emplace_back();
    entry.name = std::to_string(p_.entries.size() - 1);
    entry.first_step = static_cast<uint32_t>(p_.steps.size());
    make(*this);
    entry.num_steps = static_cast<uint32_t>(p_.steps.size()) - entry.first_step;
    p_.arena_bytes = p_.live_peak_bytes = std::max(p_.arena_bytes, used_);
    if (fused) {
      p_.group_bytes = std::max(p_.group_bytes, used_);
      p_.fused_groups.push_back({entry.first_step, entry.num_steps, whole().shape, {kGroupSlices}});
    }
    return p_.entries.size() - 1;
  }

  ValueId source(Source which, const TensorType& type) { return maker_.operand(which, type); }

 private:
  ProbeMaker& maker_;
  Program& p_;
  bool fused_ = false;
  int64_t used_ = 0;
};

// The gradient of a gated unit: x·σ(y)·(1 + y·(1 − σ(y))).
void gate(GroupMaker& g) {
  const ValueId x = g.source(Source::kFirst, whole()), y = g.source(Source::kSecond, whole());
  const ValueId s = g.add({"sigmoid", {y}, whole()});
  const ValueId xs = g.add({"mul", {x, s}, whole()});
  const ValueId rest = g.add({"sub", {{}, s}, whole(), attr(AttrKey::kSelf, 1.0)});
  const ValueId slope = g.add({"mul", {y, rest}, whole()});
  const ValueId factor = g.add({"add", {slope, {}}, whole(), attr(AttrKey::kOther, 1.0)});
  g.add({"mul", {xs, factor}, whole()}, true);
}

// A root-mean-square norm with a residual.
void norm(GroupMaker& g) {
  const ValueId x = g.source(Source::kFirst, whole()), y = g.source(Source::kSecond, whole());
  const ValueId sum = g.add({"add", {x, y}, whole()});
  const ValueId square = g.add({"pow", {sum}, whole(), attr(AttrKey::kExponent, int64_t{2})});
  const ValueId mean = g.add({"mean", {square}, rows(), along_rows()});
  const ValueId shifted = g.add({"add", {mean, {}}, rows(), attr(AttrKey::kOther, 1e-5)});
  const ValueId scale = g.add({"rsqrt", {shifted}, rows()});
  const ValueId scaled = g.add({"mul", {sum, scale}, whole()});
  g.add({"mul", {scaled, g.source(Source::kThird, columns())}, whole()}, true);
}

}  // namespace

Result<double> measure_fused_share() {
  constexpr int64_t kBytes = kGroupRows * kGroupWidth * 4;
  ProbeMaker maker({{"rank", 1}}, kBytes, kBytes);
  GroupMaker groups(maker);
  constexpr void (*kGroups[])(GroupMaker&) = {gate, norm};
  std::vector<std::pair<size_t, size_t>> entries;  // fused, one by one
  for (const auto& make : kGroups) {
    const size_t fused = groups.entry(true, make);
    entries.emplace_back(fused, groups.entry(false, make));
  }
  SHW_ASSIGN_OR_RETURN(Probe probe, Probe::create(maker, 1));
  double product = 1;
  for (const auto& [fused, alone] : entries) {
    SHW_ASSIGN_OR_RETURN(const std::vector<double> together, probe.step_us(fused));
    SHW_ASSIGN_OR_RETURN(const std::vector<double> steps, probe.step_us(alone));
    product *= std::accumulate(together.begin(), together.end(), 0.0) /
               std::accumulate(steps.begin(), steps.end(), 0.0);
  }
  return std::min(1.0, std::pow(product, 1.0 / static_cast<double>(entries.size())));
}

}  // namespace shw::measure
