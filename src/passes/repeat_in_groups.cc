// repeat-in-groups: a group of fused steps that reads results of pointwise steps of an earlier
// group computes them again, if the operands that it must read for that have fewer bytes. The same
// arithmetic on the same operands gives the same bits. (XLA's fusion copies producers into their
// readers, and PyTorch's partitioner keeps the operands of such chains for the backward pass in
// place of the results.)
//
//   group: %1 = convert(%0) to f32; %2 = exp(%1); …       writes %1 and %2, each twice as large
//   products
//   group: … = mul(%1, %2) …                              reads both
//   ⇒ the second group begins with convert and exp, and reads %0
//
// A result is computed again in every later group that can, under two conditions: it reduces the
// total bytes moved between memory and all groups, and it does not increase live memory. For the
// latter, an operand whose life gets longer must be no larger than the result, whose life gets
// shorter. A small storage that only the earlier group touched, such as one number per row, may be
// written to memory for this: a softmax is computed again from its operand and the maximum and the
// sum of each row. So the pass needs no option, and adds to what recompute/ chooses for a memory
// limit. It ignores the cost of arithmetic, because memory traffic limits groups.
// ProgramStep::recomputed keeps the value that recompute/ set.
//
// Programs with collectives are not changed yet: a step that runs during the wait for a collective
// would move to a place without a wait, and the simulated step would get longer.
#include <algorithm>

#include "groups/form_groups.h"
#include "passes/group_units.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace shw {
namespace {

constexpr int64_t kLeastBytes = int64_t{1} << 16;  // below, a launch costs more than the memory
constexpr size_t kMostRepeated = 8;                // steps, for one result
constexpr int64_t kKeptShare = 256;  // what is written for it has at most this part of its bytes
constexpr int64_t kImpossible = INT64_MAX / 4;

// The steps by which a group computes a result of an earlier unit itself, and their costs.
struct RepeatedChain {
  std::vector<const ProgramStep*> steps;  // ascending
  std::vector<StorageId> leaves;          // storages that the group must read in addition
  std::vector<StorageId> kept;            // of these, the ones that only their groups touch now
  int64_t most_kept_bytes = 0;            // of each of those
  int64_t moved_bytes = 0;                // to read them, and to write what is kept
};

class Repeater {
 public:
  explicit Repeater(Program& program) : p_(program), units_(program), copies_(units_.size()) {}

  Result<uint32_t> run(Monitor& monitor) {
    const uint32_t storages = num_storages();
    uint32_t changed = 0;
    for (uint32_t again = 1; again != 0; changed += again) {
      again = 0;
      for (const StorageId s : in_order()) {
        if (const Status polled = monitor.poll(); !polled.ok()) {
          units_.write_back();
          return polled;
        }
        again += repeat(s);
      }
    }
    units_.write_back();
    if (num_storages() > storages)  // removes those of failed attempts
      keep_steps(p_, std::vector<uint8_t>(p_.steps.size(), 1));
    return changed;
  }

 private:
  struct Copy {
    StorageId of, copy;
  };
  // One group that computes a result again.
  struct Attempt {
    uint32_t unit;
    RepeatedChain chain;
    std::vector<ProgramStep> before;  // the group's steps before the attempt
    size_t num_copies;                // number of copies before the attempt
  };

  // Large results that a later unit reads, by their writers.
  std::vector<StorageId> in_order() const {
    std::vector<StorageId> order;
    for (uint32_t u = 0; u < units_.size(); ++u)
      for (const ProgramStep& step : units_.unit(u).steps)
        if (is_pointwise(p_, step) && can_repeat(p_.values[step.outputs[0]].storage) &&
            is_read_behind(p_.values[step.outputs[0]].storage, u))
          order.push_back(p_.values[step.outputs[0]].storage);
    return order;
  }
  bool is_read_behind(StorageId s, uint32_t u) const {
    return p_.storages[s].kind == StorageKind::kArena && p_.storages[s].bytes >= kLeastBytes &&
           units_.uses(s).last() > u;
  }

  // Whether a single pointwise step writes all of it, to scratch.
  bool can_repeat(StorageId s) const {
    if (s.v >= num_storages() || !units_.is_scratch(s)) return false;
    const ProgramStep* writer = units_.writer(s);
    return writer != nullptr && is_pointwise(p_, *writer) && writer->in_place == kNotInPlace &&
           is_whole(p_, writer->outputs[0]);
  }
  uint32_t num_storages() const { return static_cast<uint32_t>(p_.storages.size()); }

  // Whether a group can read in memory what a step of `from` read there.
  bool is_there(StorageId s, uint32_t from, uint32_t group) const {
    if (p_.storages[s].kind == StorageKind::kGroup || is_in_host(p_.storages[s].kind)) return false;
    const UnitUses& uses = units_.uses(s);
    if (uses.num_writers == 0) return true;
    if (uses.num_writers > 1 || uses.writer == group) return false;
    return units_.is_scratch(s) || uses.writer < from;
  }
  // Whether its group could write it to memory for a later group.
  bool can_keep(StorageId s, uint32_t group, const RepeatedChain& chain) const {
    const UnitUses& uses = units_.uses(s);
    return p_.storages[s].kind == StorageKind::kGroup && uses.num_writers == 1 &&
           uses.writer < group && p_.storages[s].bytes <= chain.most_kept_bytes;
  }
  bool reads(uint32_t unit, StorageId s) const {
    return std::ranges::binary_search(units_.uses(s).readers, unit);
  }
  StorageId copy_in(uint32_t unit, StorageId s) const {
    for (const Copy& c : copies_[unit])
      if (c.of == s && !units_.is_gone(c.copy)) return c.copy;
    return {};
  }

  // Adds the steps that the group needs to compute a result. Returns the bytes moved for this.
  int64_t add_writer(StorageId s, uint32_t group, RepeatedChain& chain) const {
    const ProgramStep* writer = units_.writer(s);
    if (std::ranges::find(chain.steps, writer) != chain.steps.end()) return 0;
    if (chain.steps.size() >= kMostRepeated) return kImpossible;
    const uint32_t from = units_.uses(s).writer;
    if (writer->stream != units_.unit(group).steps[0].stream) return kImpossible;
    const size_t at = chain.steps.size();
    chain.steps.push_back(writer);
    int64_t bytes = 0;
    for (const ValueId v : writer->inputs) {
      if (!v.valid()) continue;
      bytes += add_operand(v, from, group, chain);
      if (bytes >= kImpossible) return kImpossible;
    }
    std::rotate(chain.steps.begin() + static_cast<ptrdiff_t>(at),
                chain.steps.begin() + static_cast<ptrdiff_t>(at) + 1, chain.steps.end());
    return bytes;
  }

  // Adds an operand: read from memory or also computed again, whichever moves fewer bytes.
  int64_t add_operand(ValueId v, uint32_t from, uint32_t group, RepeatedChain& chain) const {
    const StorageId s = p_.values[v].storage;
    if (copy_in(group, s).valid()) return 0;
    if (std::ranges::find(chain.leaves, s) != chain.leaves.end()) return 0;
    int64_t bytes = kImpossible;
    if (is_there(s, from, group))
      bytes = reads(group, s) ? 0 : std::min(p_.values[v].type.bytes(), p_.storages[s].bytes);
    const bool is_kept = bytes == kImpossible && can_keep(s, group, chain);
    if (is_kept) bytes = 2 * p_.storages[s].bytes;  // written and read
    if (bytes > 0 && can_repeat(s)) {
      RepeatedChain longer = chain;
      const int64_t again = add_writer(s, group, longer);
      if (again < bytes) {
        chain = std::move(longer);
        return again;
      }
    }
    if (bytes < kImpossible) chain.leaves.push_back(s);
    if (is_kept) chain.kept.push_back(s);
    return bytes;
  }

  // The operand as the group sees it: the window of the copy if there is one.
  ValueId in_group(uint32_t unit, ValueId v) {
    if (!v.valid()) return v;
    const StorageId copy = copy_in(unit, p_.values[v].storage);
    if (!copy.valid()) return v;
    ProgramValue value = p_.values[v];
    value.storage = copy;
    return p_.values.push_back(std::move(value));
  }

  // The number of copied steps, which precede the group's own steps.
  size_t num_copies_in_front(uint32_t u) const {
    size_t n = 0;
    for (const ProgramStep& step : units_.unit(u).steps) {
      const StorageId result = p_.values[step.outputs[0]].storage;
      if (std::ranges::none_of(copies_[u], [&](const Copy& c) { return c.copy == result; })) break;
      ++n;
    }
    return n;
  }

  // Puts the chain in front of the group's steps. False: they cannot run together.
  bool write(Attempt& attempt, StorageId s) {
    const uint32_t u = attempt.unit;
    const std::vector<ProgramStep>& old = units_.unit(u).steps;
    if (old.size() + attempt.chain.steps.size() > kGroupReach) return false;
    const size_t front = num_copies_in_front(u);
    attempt.num_copies = copies_[u].size();
    std::vector<ProgramStep> steps(old.begin(), old.begin() + static_cast<ptrdiff_t>(front));
    for (const ProgramStep* writer : attempt.chain.steps) {
      ProgramStep step = *writer;
      step.phase = old[0].phase;
      step.waits.clear();
      step.records = kNoEvent;
      step.cost_us = 0;  // its readers' prices include the memory traffic that it replaces; see
                         // take_over_price()
      for (ValueId& v : step.inputs) v = in_group(u, v);
      const StorageId of = p_.values[step.outputs[0]].storage;
      copies_[u].push_back(
          {of, p_.storages.push_back({p_.storages[of].bytes, StorageKind::kGroup})});
      step.outputs[0] = in_group(u, step.outputs[0]);
      steps.push_back(std::move(step));
    }
    for (size_t k = front; k < old.size(); ++k) {
      ProgramStep step = old[k];
      for (ValueId& v : step.inputs)
        if (v.valid() && p_.values[v].storage == s) v = in_group(u, v);
      steps.push_back(std::move(step));
    }
    if (front == 0) std::swap(steps[0].waits, steps[attempt.chain.steps.size()].waits);
    if (!units_.replace(u, steps)) {
      copies_[u].resize(attempt.num_copies);
      return false;
    }
    attempt.before = std::move(steps);
    return true;
  }

  // Whether fewer bytes are moved, and no more are live.
  bool is_worth(StorageId s, const std::vector<Attempt>& attempts, uint32_t last_before) const {
    const UnitUses& uses = units_.uses(s);
    const int64_t bytes = p_.storages[s].bytes;
    int64_t moved = uses.last() == uses.writer || uses.readers.empty() ? -bytes : 0;
    int64_t held = uses.last() < last_before ? -bytes : 0;
    std::vector<StorageId> seen;
    for (const Attempt& a : attempts) {
      moved += a.chain.moved_bytes - bytes;
      for (const StorageId leaf : a.chain.leaves) {
        if (!units_.is_scratch(leaf) || std::ranges::find(seen, leaf) != seen.end() ||
            std::ranges::find(a.chain.kept, leaf) != a.chain.kept.end())
          continue;
        seen.push_back(leaf);
        if (last_without(leaf, attempts) < units_.uses(leaf).last())
          held += p_.storages[leaf].bytes;
      }
    }
    return moved < 0 && held <= 0;
  }
  // The last unit that uses it, without those that use it only because of the attempts.
  uint32_t last_without(StorageId leaf, const std::vector<Attempt>& attempts) const {
    const UnitUses& uses = units_.uses(leaf);
    for (size_t k = uses.readers.size(); k-- > 0;) {
      const bool is_new = std::ranges::any_of(attempts, [&](const Attempt& a) {
        return a.unit == uses.readers[k] &&
               std::ranges::find(a.chain.leaves, leaf) != a.chain.leaves.end();
      });
      if (!is_new) return uses.readers[k];
    }
    return uses.writer;
  }

  // Computes it again in all later groups that can. Returns 1 if that was done, otherwise 0.
  uint32_t repeat(StorageId s) {
    if (!can_repeat(s) || !is_read_behind(s, units_.uses(s).writer)) return 0;
    const UnitUses before = units_.uses(s);
    std::vector<Attempt> attempts;
    for (const uint32_t u : before.readers) {
      if (u <= before.writer || !units_.unit(u).is_group() || copy_in(u, s).valid()) continue;
      Attempt attempt{u, {}, {}, 0};
      attempt.chain.most_kept_bytes = p_.storages[s].bytes / kKeptShare;
      attempt.chain.moved_bytes = add_writer(s, u, attempt.chain);
      if (attempt.chain.moved_bytes > 2 * p_.storages[s].bytes || !write(attempt, s)) continue;
      for (const StorageId k : attempt.chain.kept) p_.storages[k].kind = StorageKind::kArena;
      std::erase_if(attempt.chain.leaves, [&](StorageId l) { return was_read(attempt, l); });
      attempts.push_back(std::move(attempt));
    }
    if (attempts.empty()) return 0;
    if (is_worth(s, attempts, before.last())) {
      const bool is_read = !units_.uses(s).readers.empty();
      if (is_read) units_.settle(s);
      if (is_read || units_.remove_writer(s)) {
        units_.take_over_price(attempts[0].unit);
        return 1;
      }
    }
    for (Attempt& a : attempts) {
      units_.replace(a.unit, a.before);
      copies_[a.unit].resize(a.num_copies);
      for (const StorageId k : a.chain.kept) p_.storages[k].kind = StorageKind::kGroup;
    }
    return 0;
  }
  bool was_read(const Attempt& attempt, StorageId s) const {
    for (const ProgramStep& step : attempt.before)
      for (const ValueId v : step.inputs)
        if (v.valid() && p_.values[v].storage == s) return true;
    return false;
  }

  Program& p_;
  GroupUnits units_;
  std::vector<std::vector<Copy>> copies_;  // by unit
};

Result<uint32_t> run_repeat_in_groups(Program& p, const PassOptions&, Monitor& monitor) {
  const auto has_place = [](const ProgramStorage& s) { return s.offset_bytes >= 0; };
  const auto on_link = [&](const ProgramStep& step) { return runs_on_link(p, step); };
  if (p.fused_groups.empty() || std::ranges::any_of(p.storages, has_place) ||
      std::ranges::any_of(p.steps, on_link))
    return 0u;
  return Repeater(p).run(monitor);
}

}  // namespace

extern const PassDef kRepeatInGroups;
constinit const PassDef kRepeatInGroups = {
    "repeat-in-groups", "Computes in a group again what takes more bytes to read.",
    run_repeat_in_groups};

}  // namespace shw
