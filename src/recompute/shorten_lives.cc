#include "recompute/shorten_lives.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "groups/form_groups.h"
#include "ops/op_def.h"
#include "recompute/row_parts.h"

namespace shw {
namespace {

// A change must save at least 1/kLeastShare of the bytes of the fullest step.
constexpr int64_t kLeastShare = 64;
// Maximum number of steps that one change may repeat.
constexpr size_t kMostSteps = 6;
// An operand whose life a change would extend may have at most 1/kHeldShare of the bytes that the
// change saves; a larger operand is computed again too.
constexpr int64_t kHeldShare = 2;
constexpr double kLaunchUs = 1;  // of a change, in addition to its steps
// The search ends after this many consecutive changes that do not lower the peak.
constexpr int kMostInVain = 24;

// The value of a change: bytes saved per microsecond.
double saves(int64_t bytes, double us) { return static_cast<double>(bytes) / (us + kLaunchUs); }

// Whether the step's body is unknown, so that repeating it may give another result.
bool is_opaque(const ProgramStep& step) {
  const auto kind = op_from_name(step.kernel);
  return kind && op_def(*kind).opaque;
}

// A storage that is live at the fullest step but not used there, and the steps that make it again
// behind that step.
struct Again {
  StorageId storage;
  uint32_t reader = kNoStep;    // the next one
  std::vector<uint32_t> steps;  // steps to run in front of it, ascending
  std::vector<uint8_t> moves;   // by step: it moves, because nothing needs it earlier
  int64_t saved_bytes = 0;
  double more_us = 0;  // of steps that are repeated, not moved
};

// Finds the change that saves the most bytes for its time.
class AgainFinder {
 public:
  AgainFinder(const Program& p, const FullestStep& fullest, int64_t least_bytes,
              const LifeRules& rules)
      : p_(p),
        fullest_(fullest),
        least_bytes_(least_bytes),
        rules_(rules),
        before_(p.storages.size(), kNoStep),
        behind_(p.storages.size(), kNoStep),
        num_uses_(p.storages.size(), 0) {}

  std::optional<Again> find() {
    find_uses_around();
    std::optional<Again> best;
    double most = 0;  // bytes that a microsecond saves
    for (uint32_t s = 0; s < before_.size(); ++s) {
      std::optional<Again> again = again_of(StorageId{s});
      if (!again) continue;
      const double value = saves(again->saved_bytes, again->more_us);
      if (value > most) most = value, best = std::move(again);
    }
    return best;
  }

 private:
  template <class F>
  void for_operands(uint32_t step, F f) const {
    for_storages(p_, p_.steps[step].inputs, f);
    for_storages(p_, p_.steps[step].outputs, f);
  }
  void find_uses_around() {
    const StepSpan at = fullest_.spans[fullest_.at];
    for (uint32_t i = 0; i < at.first; ++i) for_operands(i, [&](StorageId s) { before_[s.v] = i; });
    for (auto i = static_cast<uint32_t>(p_.steps.size()); --i > at.last;)
      for_operands(i, [&](StorageId s) { behind_[s.v] = i; });
    for (uint32_t i = at.first; i <= at.last; ++i)
      for_operands(i, [&](StorageId s) { before_[s.v] = behind_[s.v] = kNoStep; });
    for (uint32_t i = 0; i < p_.steps.size(); ++i)
      for_operands(i, [&](StorageId s) { ++num_uses_[s.v]; });
  }

  std::optional<Again> again_of(StorageId s) const {
    const StorageLife& life = fullest_.lives[s.v];
    if (before_[s.v] == kNoStep || behind_[s.v] == kNoStep || life.writer == kNoStep ||
        !is_scratch(p_, s) || fullest_.is_of_group[s.v] || padded_bytes(p_, s) < least_bytes_)
      return {};
    Again again;
    again.storage = s;
    again.reader = fullest_.spans[behind_[s.v]].first;
    again.saved_bytes = padded_bytes(p_, s);
    if (!add(life.writer, again) || again.saved_bytes < least_bytes_) return {};
    std::ranges::sort(again.steps);
    find_moves(again);
    for (size_t k = 0; k < again.steps.size(); ++k)
      if (!again.moves[k]) again.more_us += std::max(p_.steps[again.steps[k]].cost_us, 0.0);
    return again;
  }
  // Goes from the last step backwards: a step moves if only the reader and steps that move need its
  // results.
  void find_moves(Again& again) const {
    again.moves.assign(again.steps.size(), 0);
    for (size_t k = again.steps.size(); k-- > 0;) {
      bool is_needed = false;
      for_storages(p_, p_.steps[again.steps[k]].outputs, [&](StorageId s) {
        is_needed |= s == again.storage ? before_[s.v] != again.steps[k]
                                        : num_uses_[s.v] > uses_by_moving(s, again, k);
      });
      again.moves[k] = !is_needed;
    }
  }
  // The uses of a storage by step k itself and by later steps that move.
  uint32_t uses_by_moving(StorageId s, const Again& again, size_t k) const {
    uint32_t count = 0;
    const auto add = [&](StorageId used) { count += used == s; };
    for_storages(p_, p_.steps[again.steps[k]].outputs, add);
    for (size_t later = k + 1; later < again.steps.size(); ++later)
      if (again.moves[later]) for_storages(p_, p_.steps[again.steps[later]].inputs, add);
    return count;
  }

  // Adds the step and the steps that it needs. False: that is impossible, or there would be too
  // many steps.
  bool add(uint32_t step, Again& again) const {
    if (std::ranges::find(again.steps, step) != again.steps.end()) return true;
    const ProgramStep& s = p_.steps[step];
    bool possible = s.in_place == kNotInPlace && again.steps.size() < kMostSteps && !is_opaque(s) &&
                    !is_kept(s, p_.steps[again.reader]);
    for_storages(p_, s.outputs, [&](StorageId o) {
      possible &= is_scratch(p_, o) && fullest_.lives[o.v].writer == step;
    });
    again.steps.push_back(step);
    for_storages(p_, s.inputs,
                 [&](StorageId i) { possible = possible && is_there(i, step, again); });
    return possible;
  }
  bool is_kept(const ProgramStep& step, const ProgramStep& reader) const {
    return step.phase != reader.phase && step.node < rules_.kept_nodes.size() &&
           rules_.kept_nodes[step.node] != 0;
  }
  // Whether the storage has the same contents in front of the reader as at the step, or can be
  // computed again there.
  bool is_there(StorageId s, uint32_t step, Again& again) const {
    const StorageLife& life = fullest_.lives[s.v];
    const bool is_updated_later = life.num_writers == 1 && life.writer >= again.reader;
    if (life.num_writers > 0 && life.last_writer >= step && !is_updated_later) return false;
    if (!is_scratch(p_, s) || life.last >= again.reader) return true;
    if (kHeldShare * padded_bytes(p_, s) > padded_bytes(p_, again.storage) &&
        life.writer != kNoStep)
      return add(life.writer, again);
    // Counted twice if two of the steps read it, which underestimates the saving.
    if (life.last < fullest_.at) again.saved_bytes -= padded_bytes(p_, s);
    return true;
  }

  const Program& p_;
  const FullestStep& fullest_;
  const int64_t least_bytes_;
  const LifeRules& rules_;
  std::vector<uint32_t> before_, behind_;  // by storage: the uses around the fullest step
  std::vector<uint32_t> num_uses_;         // by storage: of all
};

// Writes the steps in front of the reader.
class AgainWriter {
 public:
  AgainWriter(Program& p, const Again& again)
      : p_(p), again_(again), copy_(p.storages.size()), window_(p.values.size()) {}

  void write() {
    for (uint32_t i : again_.steps)
      for_storages(p_, p_.steps[i].outputs, [&](StorageId s) {
        if (!copy_[s.v].valid())
          copy_[s.v] = p_.storages.push_back({p_.storages[s].bytes, StorageKind::kArena});
      });
    std::vector<ProgramStep> steps;
    for (size_t k = 0; k < again_.steps.size(); ++k) {
      ProgramStep step = p_.steps[again_.steps[k]];
      step.phase = p_.steps[again_.reader].phase;
      step.recomputed = step.recomputed || !again_.moves[k];
      for (ValueId& v : step.inputs) v = copy_of(v);
      for (ValueId& v : step.outputs) v = is_needed(v) ? copy_of(v) : ValueId();
      steps.push_back(std::move(step));
    }
    for (uint32_t i = again_.reader; i < p_.steps.size(); ++i)
      for (ValueId& v : p_.steps[i].inputs)
        if (v.valid() && p_.values[v].storage == again_.storage) v = copy_of(v);
    p_.steps.insert(p_.steps.begin() + again_.reader, std::move_iterator(steps.begin()),
                    std::move_iterator(steps.end()));
    for (size_t k = again_.steps.size(); k-- > 0;)
      if (again_.moves[k]) p_.steps.erase(p_.steps.begin() + again_.steps[k]);
  }

 private:
  // Whether another of the steps or the reader needs this result.
  bool is_needed(ValueId v) const {
    if (!v.valid()) return false;
    const StorageId result = p_.values[v].storage;
    bool is = result == again_.storage;
    for (uint32_t i : again_.steps)
      for_storages(p_, p_.steps[i].inputs, [&](StorageId s) { is |= s == result; });
    return is;
  }
  // The same window of the storage's copy; the value itself if there is no copy.
  ValueId copy_of(ValueId v) {
    if (!v.valid() || p_.values[v].storage.v >= copy_.size()) return v;
    const StorageId copy = copy_[p_.values[v].storage.v];
    if (!copy.valid()) return v;
    ValueId& window = window_[v.v];
    if (window.valid()) return window;
    ProgramValue value = p_.values[v];
    value.storage = copy;
    return window = p_.values.push_back(std::move(value));
  }

  Program& p_;
  const Again& again_;
  std::vector<StorageId> copy_;  // by storage that the steps write
  std::vector<ValueId> window_;  // by value: the same window of the copy
};

// The fullest step with groups. The program keeps the order of steps that forming groups gives, but
// not the groups.
FullestStep fullest_with_groups(Program& p, const LifeRules& rules) {
  if (rules.with_groups) {
    p.entries[0].num_steps = static_cast<uint32_t>(p.steps.size());
    // The same order as later, when collectives may have streams of their own.
    form_groups(p, rules.overlaps ? StepOrder::kOfSchedule : StepOrder::kFree);
  }
  FullestStep fullest = fullest_step(p);
  drop_fused_groups(p);
  return fullest;
}

// Shortens lives in a program of one entry.
ShortenedLives shorten_entry(Program& p, int64_t bytes, const LifeRules& rules) {
  FullestStep fullest = fullest_with_groups(p, rules);
  ShortenedLives now{fullest.live_bytes}, best = now;
  std::vector<ProgramStep> best_steps;  // the best so far, if later changes do not help
  for (int in_vain = 0; now.peak_bytes > bytes && in_vain < kMostInVain; ++in_vain) {
    const int64_t least = std::max<int64_t>(now.peak_bytes / kLeastShare, 1);
    const std::optional<Again> again = AgainFinder(p, fullest, least, rules).find();
    const std::optional<RowParts> run = best_row_parts(p, fullest, least, rules.copy_us);
    if (!again && !run) break;
    if (in_vain == 0) best_steps = p.steps;
    if (!run || (again && saves(again->saved_bytes, again->more_us) >=
                              saves(run->saved_bytes, run->more_us))) {
      AgainWriter(p, *again).write();
      now.more_us += again->more_us;
    } else {
      run_in_parts(p, *run);
      now.more_us += run->more_us;
    }
    fullest = fullest_with_groups(p, rules);
    now.peak_bytes = fullest.live_bytes;
    if (now.peak_bytes < best.peak_bytes) best = now, in_vain = -1;
  }
  if (now.peak_bytes > best.peak_bytes || now.more_us > best.more_us) p.steps = best_steps;
  return best;
}

}  // namespace

ShortenedLives shorten_lives(Program& program, int64_t bytes, const LifeRules& rules) {
  int64_t session = 0;  // live all the time
  for (const ProgramStorage& s : program.storages)
    if (s.kind == StorageKind::kSession) session += padded_bytes(program, s.bytes);
  ShortenedLives result;
  std::vector<ProgramStep> all = std::move(program.steps), steps;
  std::vector<ProgramEntry> entries = std::move(program.entries);
  for (ProgramEntry& e : entries) {
    const auto from = all.begin() + e.first_step;
    program.steps.assign(std::move_iterator(from), std::move_iterator(from + e.num_steps));
    ProgramEntry alone = e;
    alone.first_step = 0;
    program.entries = {alone};
    const ShortenedLives of_entry = shorten_entry(program, bytes - session, rules);
    result.peak_bytes = std::max(result.peak_bytes, session + of_entry.peak_bytes);
    result.more_us += e.weight * of_entry.more_us;
    e.first_step = static_cast<uint32_t>(steps.size());
    e.num_steps = static_cast<uint32_t>(program.steps.size());
    std::ranges::move(program.steps, std::back_inserter(steps));
  }
  program.steps = std::move(steps);
  program.entries = std::move(entries);
  return result;
}

}  // namespace shw
