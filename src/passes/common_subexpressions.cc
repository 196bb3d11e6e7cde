// common-subexpressions: removes a step that repeats an earlier one (same kernel, attributes and
// collective on the same windows); its readers then read the earlier result.
//
//   %3 = permute-copy(%0); %4 = permute-copy(%0); mm(%3, %4)   ⇒   %3 = …(%0); mm(%3, %3)
//
// Kernels have no side effects, so equal steps have equal results. A step is kept if its result is
// returned to the caller, since each output has its own storage; if its storage is overwritten in
// place, and so has two values; or if it is in another entry, because either entry may run alone.
// It is also kept if holding the first result until the readers of the second would exceed the
// scratch limit.
#include <algorithm>
#include <unordered_map>

#include "passes/pass.h"
#include "passes/rewrite.h"
#include "simulate/live_bytes.h"
#include "support/hash.h"

namespace shw {
namespace {

class Merger {
 public:
  Merger(Program& program, int64_t limit_bytes)
      : p_(program),
        limit_bytes_(limit_bytes),
        storage_(program.storages.size()),
        touched_(touched_storages(program)),
        live_(LiveBytes::of(program, touched_)) {
    for (uint32_t i = 0; i < storage_.size(); ++i) storage_[i] = i;
  }

  Result<uint32_t> run(Monitor& monitor) {
    std::vector<uint8_t> keep(p_.steps.size(), 1);
    uint32_t removed = 0;
    find_overwritten();
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      if (i % 4096 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
      if (std::ranges::any_of(p_.entries, [&](const auto& e) { return e.first_step == i; }))
        by_hash_.clear();
      if (!removable(p_.steps[i]) || !merge(i)) continue;
      keep[i] = 0;
      ++removed;
    }
    if (removed == 0) return removed;
    for (ProgramValue& v : p_.values) v.storage.v = storage_[v.storage.v];
    keep_steps(p_, keep);
    return removed;
  }

 private:
  void find_overwritten() {
    overwritten_.assign(p_.storages.size(), 0);
    for (const ProgramStep& s : p_.steps)
      for (ValueId v : s.outputs)
        if (v.valid() && (p_.lies_in(v, StorageKind::kInput) || p_.lies_in(v, StorageKind::kState)))
          overwritten_[p_.values[v].storage.v] = 1;
  }

  // Whether each result is the only value of its storage and does not leave the entry.
  bool removable(const ProgramStep& s) const {
    for (ValueId v : s.inputs)
      if (v.valid() && overwritten_[p_.values[v].storage.v]) return false;
    if (s.records != kNoEvent || !s.waits.empty()) return false;  // already scheduled
    for (ValueId v : s.outputs)
      if (v.valid() && p_.storages[p_.values[v].storage].kind != StorageKind::kArena) return false;
    return !s.outputs.empty();
  }

  bool merge(uint32_t step) {
    const uint64_t h = hash(p_.steps[step]);
    for (auto [it, end] = by_hash_.equal_range(h); it != end; ++it) {
      const ProgramStep &first = p_.steps[it->second], &again = p_.steps[step];
      if (!same(first, again)) continue;
      if (!hold(first, again, step)) {
        it->second = step;  // its result is nearer
        return false;
      }
      for (size_t k = 0; k < again.outputs.size(); ++k)
        if (again.outputs[k].valid())
          storage_[p_.values[again.outputs[k]].storage.v] =
              storage_[p_.values[first.outputs[k]].storage.v];
      return true;
    }
    by_hash_.emplace(h, step);
    return false;
  }

  // Extends the lifetime of `first`'s results to `step`, which repeats it, if memory permits.
  bool hold(const ProgramStep& first, const ProgramStep& again, uint32_t step) {
    for (const bool really : {false, true})
      for (size_t k = 0; k < again.outputs.size(); ++k) {
        if (!again.outputs[k].valid()) continue;
        const StorageId held{storage_[p_.values[first.outputs[k]].storage.v]};
        Touched& t = touched_[held.v];
        const int64_t bytes = p_.storages[held].bytes;
        const uint32_t from = t.last + 1;
        if (really) {
          live_.add(from, step, bytes);
          t.last = std::max(t.last, touched_[p_.values[again.outputs[k]].storage.v].last);
        } else if (from < step && live_.room_from(from, step, bytes, limit_bytes_) > from) {
          return false;
        }
      }
    return true;
  }

  bool same_window(ValueId a, ValueId b) const {
    if (!a.valid() || !b.valid()) return a.valid() == b.valid();
    const ProgramValue &x = p_.values[a], &y = p_.values[b];
    return storage_[x.storage.v] == storage_[y.storage.v] && x.offset_bytes == y.offset_bytes &&
           x.type == y.type;
  }

  bool same(const ProgramStep& a, const ProgramStep& b) const {
    if (a.kernel != b.kernel || a.inputs.size() != b.inputs.size() ||
        a.outputs.size() != b.outputs.size() || a.attrs != b.attrs || a.collective != b.collective)
      return false;
    for (size_t k = 0; k < a.inputs.size(); ++k)
      if (!same_window(a.inputs[k], b.inputs[k])) return false;
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      const ValueId x = a.outputs[k], y = b.outputs[k];
      if (x.valid() != y.valid()) return false;
      if (x.valid() && (p_.values[x].type != p_.values[y].type ||
                        p_.values[x].offset_bytes != p_.values[y].offset_bytes))
        return false;
    }
    return true;
  }

  uint64_t hash(const ProgramStep& s) const {
    uint64_t h = hash_combine(hash_bytes(s.kernel), hash_of(s.attrs));
    for (ValueId v : s.inputs) {
      if (!v.valid()) continue;
      const ProgramValue& x = p_.values[v];
      h = hash_combine(h, hash_combine(storage_[x.storage.v], hash_of(x.type)));
    }
    return h;
  }

  Program& p_;
  const int64_t limit_bytes_;         // of scratch
  std::vector<uint8_t> overwritten_;  // by storage
  std::vector<uint32_t> storage_;     // by storage: the storage that holds the same value
  std::vector<Touched> touched_;      // by storage
  LiveBytes live_;                    // by step, including extended lifetimes
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;  // look-up only
};

Result<uint32_t> run_common_subexpressions(Program& p, const PassOptions& options,
                                           Monitor& monitor) {
  return Merger(p, options.arena_limit_bytes).run(monitor);
}

}  // namespace

extern const PassDef kCommonSubexpressions;
constinit const PassDef kCommonSubexpressions = {
    "common-subexpressions", "Computes equal things once.", run_common_subexpressions};

}  // namespace shw
