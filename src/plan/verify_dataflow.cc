#include "plan/verify_dataflow.h"

#include <algorithm>
#include <map>
#include <string>

#include "plan/window.h"

namespace shw {

std::string at_step(const Program& program, uint32_t step) {
  return "step " + std::to_string(step) + " (" + program.steps[step].kernel + "): ";
}

namespace {

struct Access {
  ByteRange range;
  uint32_t step;
};
// By storage: accesses in ascending order, disjoint.
using Writes = std::vector<std::vector<Access>>;

// A step, or the caller, who receives an output.
struct Reader {
  uint32_t step = kNoStep;
  const Port* output = nullptr;
};
std::string to_string(const Program& program, const Reader& reader) {
  return reader.output == nullptr ? at_step(program, reader.step)
                                  : "output '" + reader.output->name + "': ";
}

// Checks one entry after another, and remembers what each has written to session memory.
class Dataflow {
 public:
  Dataflow(const Program& program, const HappensBefore& order)
      : p_(program),
        order_(order),
        session_writes_(program.storages.size()),
        session_writer_(program.storages.size(), UINT32_MAX) {}

  Status run() {
    for (entry_ = 0; entry_ < p_.entries.size(); ++entry_) {
      find_entries_before();
      writes_.assign(p_.storages.size(), {});
      reads_.assign(p_.storages.size(), {});
      const ProgramEntry& e = p_.entries[entry_];
      for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i)
        SHW_RETURN_IF_ERROR(step(i));
      for (PortId id : e.outputs) {
        const Port& port = p_.ports[id];
        if (!port.value.valid()) continue;
        const Reader outside{.output = &port};
        SHW_RETURN_IF_ERROR(p_.lies_in(port, StorageKind::kInput) ? updated(port.value, outside)
                                                                  : read(port.value, outside));
      }
      SHW_RETURN_IF_ERROR(keep_session());
    }
    return {};
  }

 private:
  void find_entries_before() {
    before_.assign(p_.entries.size(), 0);
    before_[entry_] = 1;
    for (uint32_t e = entry_ + 1; e-- > 0;)
      if (before_[e])
        for (uint32_t earlier : p_.entries[e].after) before_[earlier] = 1;
  }

  Status step(uint32_t i) {
    const ProgramStep& s = p_.steps[i];
    for (ValueId id : s.inputs)
      if (id.valid()) SHW_RETURN_IF_ERROR(read(id, {.step = i}));
    for (size_t k = 0; k < s.outputs.size(); ++k)
      if (s.outputs[k].valid()) SHW_RETURN_IF_ERROR(write(s.outputs[k], k, i));
    return {};
  }

  Status read(ValueId id, const Reader& reader) {
    const uint32_t step = reader.step;
    const ProgramValue& v = p_.values[id];
    const ByteRange range = touched_bytes(v);
    if (range.empty()) return {};
    const uint32_t s = v.storage.v;
    const StorageKind kind = p_.storages[v.storage].kind;
    if (kind == StorageKind::kConstant) return {};
    if (kind == StorageKind::kInput || kind == StorageKind::kState) {
      // A reader sees the old value before the update, and the new one after it. The order must be
      // certain.
      for (const Access& w : writes_[s])
        if (w.range.meets(range) && step != kNoStep && !order_.before(w.step, step))
          return invalid_argument(to_string(p_, reader) + "value " + std::to_string(id.v) +
                                  ", updated by step " + std::to_string(w.step) +
                                  ", may be the old one or the new one");
      reads_[s].push_back({range, step});
      return {};
    }
    const bool earlier = is_in_session(kind) && writes_[s].empty();
    if (earlier && (session_writer_[s] == UINT32_MAX || !before_[session_writer_[s]]))
      return invalid_argument(to_string(p_, reader) + "value " + std::to_string(id.v) +
                              " is left by no entry that runs before");
    return covered(earlier ? session_writes_[s] : writes_[s], range, id, earlier ? kNoStep : step,
                   reader);
  }

  Status covered(const std::vector<Access>& writes, const ByteRange& range, ValueId id,
                 uint32_t step, const Reader& reader) const {
    int64_t until = range.first;
    for (const Access& w : writes) {
      if (!w.range.meets(range)) continue;
      if (w.range.first > until) break;
      until = std::max(until, w.range.last);
      if (step != kNoStep && !order_.before(w.step, step))
        return invalid_argument(to_string(p_, reader) + "value " + std::to_string(id.v) +
                                ", written by step " + std::to_string(w.step) +
                                ", may not be there yet");
    }
    return until >= range.last
               ? Status()
               : invalid_argument(to_string(p_, reader) + "value " + std::to_string(id.v) +
                                  " is read before it is written");
  }

  Status write(ValueId id, size_t result, uint32_t step) {
    const ProgramValue& v = p_.values[id];
    const StorageKind kind = p_.storages[v.storage].kind;
    if (kind == StorageKind::kConstant)
      return invalid_argument(at_step(p_, step) + "it writes to a constant");
    if (!v.type.contiguous())
      return invalid_argument(at_step(p_, step) + "its result is not contiguous");
    const ProgramStep& s = p_.steps[step];
    const bool in_place = s.in_place != kNotInPlace && result == 0;
    if (in_place && !same_window(v, p_.values[s.inputs[s.in_place]]))
      return invalid_argument(at_step(p_, step) +
                              "done in place, it reads and writes other windows");
    const ByteRange range = touched_bytes(v);
    if (range.empty()) return {};
    if (kind == StorageKind::kInput || kind == StorageKind::kState) {
      SHW_RETURN_IF_ERROR(overwrite(id, range, in_place, step));
    } else if (in_place) {
      return invalid_argument(at_step(p_, step) + "only an input or state is updated in place");
    }
    auto& list = writes_[v.storage.v];
    const auto at = std::lower_bound(
        list.begin(), list.end(), range,
        [](const Access& w, const ByteRange& r) { return w.range.first < r.first; });
    if ((at != list.end() && at->range.first < range.last) ||
        (at != list.begin() && (at - 1)->range.last > range.first))
      return invalid_argument(at_step(p_, step) + "value " + std::to_string(id.v) +
                              " overwrites another");
    list.insert(at, {range, step});
    return {};
  }

  bool same_window(const ProgramValue& a, const ProgramValue& b) const {
    return a.storage == b.storage && a.offset_bytes == b.offset_bytes && a.type == b.type;
  }

  // Overwriting discards the old value: it must be an update, and every other reader must have
  // finished.
  Status overwrite(ValueId id, const ByteRange& range, bool in_place, uint32_t step) const {
    const uint32_t s = p_.values[id].storage.v;
    if (p_.storages[StorageId{s}].kind == StorageKind::kInput) {
      const auto& outputs = p_.entries[entry_].outputs;
      if (std::none_of(outputs.begin(), outputs.end(), [&](PortId o) {
            const ValueId v = p_.ports[o].value;
            return v.valid() && p_.values[v].storage.v == s;
          }))
        return invalid_argument(at_step(p_, step) + "it writes to an input");
    }
    for (const Access& r : reads_[s]) {
      if (!r.range.meets(range) || (r.step == step && in_place && reads_once(step))) continue;
      if (r.step == step || !order_.before(r.step, step))
        return invalid_argument(at_step(p_, step) + "it overwrites what step " +
                                std::to_string(r.step) + " may still be reading");
    }
    return {};
  }
  // Whether no other operand of an in-place step lies in the bytes that it overwrites.
  bool reads_once(uint32_t step) const {
    const ProgramStep& s = p_.steps[step];
    const ProgramValue& out = p_.values[s.outputs[0]];
    for (uint32_t k = 0; k < s.inputs.size(); ++k) {
      if (k == s.in_place || !s.inputs[k].valid()) continue;
      const ProgramValue& in = p_.values[s.inputs[k]];
      if (in.storage == out.storage && touched_bytes(in).meets(touched_bytes(out))) return false;
    }
    return true;
  }

  // Checks that an output in the memory of an input was written completely.
  Status updated(ValueId id, const Reader& reader) const {
    const ProgramValue& v = p_.values[id];
    const ByteRange range = touched_bytes(v);
    return range.empty() ? Status() : covered(writes_[v.storage.v], range, id, kNoStep, reader);
  }

  Status keep_session() {
    for (uint32_t s = 0; s < writes_.size(); ++s) {
      if (!is_in_session(p_.storages[StorageId{s}].kind) || writes_[s].empty()) continue;
      if (session_writer_[s] != UINT32_MAX)
        return invalid_argument("entry '" + p_.entries[entry_].name + "' writes storage " +
                                std::to_string(s) + " of the session, which is another entry's");
      session_writer_[s] = entry_;
      session_writes_[s] = std::move(writes_[s]);
    }
    return {};
  }

  const Program& p_;
  const HappensBefore& order_;
  uint32_t entry_ = 0;
  std::vector<uint8_t> before_;           // by entry: the current one, and those before it
  Writes writes_, reads_;                 // of the current entry
  Writes session_writes_;                 // of earlier entries
  std::vector<uint32_t> session_writer_;  // by storage: the entry
};

// Checks the places in the arena, in host memory, in the memory of groups, or in outputs. It goes
// through the steps in order; `owner_` maps byte ranges to the storage that used them last.
class PlaceCheck {
 public:
  PlaceCheck(const Program& program, const HappensBefore& order, StorageKind kind)
      : p_(program), order_(order), kind_(kind) {}

  // Checks these steps; everything before them is over.
  Status run(uint32_t first_step, uint32_t num_steps) {
    owner_.assign(kind_ == StorageKind::kInOutput ? p_.ports.size() : 1, {});
    used_.assign(p_.storages.size(), {});
    for (uint32_t i = first_step; i < first_step + num_steps; ++i)
      for (const auto* list : {&p_.steps[i].inputs, &p_.steps[i].outputs})
        for (ValueId v : *list)
          if (v.valid()) SHW_RETURN_IF_ERROR(touch(p_.values[v].storage.v, i));
    return {};
  }

 private:
  struct Owner {
    int64_t last;
    uint32_t storage;
  };
  struct Use {
    std::vector<uint32_t> steps;     // steps that touch the storage
    std::vector<uint32_t> replaced;  // storages whose bytes it took
    bool is_lost = false;            // its bytes went to another
  };

  bool lies_here(StorageKind kind) const {
    return kind == kind_ || (kind_ == StorageKind::kInOutput && kind == StorageKind::kOutput);
  }

  Status touch(uint32_t s, uint32_t step) {
    const ProgramStorage& storage = p_.storages[StorageId{s}];
    if (!lies_here(storage.kind) || storage.bytes == 0) return {};
    Use& use = used_[s];
    if (use.is_lost)
      return invalid_argument(at_step(p_, step) + "storage " + std::to_string(s) +
                              " is used after its bytes went to another");
    if (use.steps.empty()) {
      SHW_RETURN_IF_ERROR(take(s, step));
    } else if (!order_.before(use.steps[0], step)) {  // so the first one did not wait for `step`
      for (uint32_t old : use.replaced) SHW_RETURN_IF_ERROR(check_is_over(old, s, step));
    }
    use.steps.push_back(step);
    return {};
  }

  Status take(uint32_t s, uint32_t step) {
    const ProgramStorage& storage = p_.storages[StorageId{s}];
    const int64_t first = storage.kind == StorageKind::kOutput ? 0 : storage.offset_bytes;
    const int64_t last = first + storage.bytes;
    std::map<int64_t, Owner>& owner = owner_[kind_ == StorageKind::kInOutput ? storage.port : 0];
    auto it = owner.upper_bound(first);
    if (it != owner.begin() && std::prev(it)->second.last > first) --it;
    while (it != owner.end() && it->first < last) {
      const auto [old_first, old] = *it;
      SHW_RETURN_IF_ERROR(check_is_over(old.storage, s, step));
      used_[s].replaced.push_back(old.storage);
      used_[old.storage].is_lost = true;
      it = owner.erase(it);
      if (old_first < first) owner[old_first] = {first, old.storage};
      if (old.last > last) owner[last] = old, it = owner.find(last);
    }
    owner[first] = {last, s};
    return {};
  }

  // `step` touches storage `s`, which lies where `old` lay.
  Status check_is_over(uint32_t old, uint32_t s, uint32_t step) const {
    const auto refuse = [&](const std::string& why) {
      return invalid_argument(at_step(p_, step) + "storage " + std::to_string(s) + " takes bytes " +
                              why);
    };
    if (p_.storages[StorageId{old}].kind == StorageKind::kOutput)
      return refuse("of output '" + p_.ports[PortId{p_.storages[StorageId{old}].port}].name +
                    "', which has been written to");
    for (uint32_t a : used_[old].steps)
      if (!order_.before(a, step))
        return refuse("that step " + std::to_string(a) + " may still be using");
    return {};
  }

  const Program& p_;
  const HappensBefore& order_;
  const StorageKind kind_;
  std::vector<std::map<int64_t, Owner>> owner_;  // by memory, by first byte; disjoint
  std::vector<Use> used_;                        // by storage
};

// `kind`: kSession or kHostSession.
Status verify_session(const Program& p, StorageKind kind) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const ProgramStorage& s : p.storages)
    if (s.kind == kind && s.bytes > 0)
      ranges.emplace_back(s.offset_bytes, s.offset_bytes + s.bytes);
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return invalid_argument("two storages of the session share bytes");
  return {};
}

}  // namespace

Status verify_dataflow(const Program& program, const HappensBefore& order) {
  return Dataflow(program, order).run();
}

Status verify_memory(const Program& program, const HappensBefore& order) {
  for (const StorageKind kind :
       {StorageKind::kArena, StorageKind::kHost, StorageKind::kGroup, StorageKind::kInOutput}) {
    if (std::ranges::none_of(program.storages,
                             [&](const ProgramStorage& s) { return s.kind == kind; }))
      continue;
    PlaceCheck check(program, order, kind);
    for (const ProgramEntry& e : program.entries)
      SHW_RETURN_IF_ERROR(check.run(e.first_step, e.num_steps));
  }
  SHW_RETURN_IF_ERROR(verify_session(program, StorageKind::kSession));
  return verify_session(program, StorageKind::kHostSession);
}

}  // namespace shw
