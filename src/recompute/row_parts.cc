#include "recompute/row_parts.h"

#include <algorithm>

#include "plan/port_uses.h"
#include "plan/product_rows.h"
#include "plan/slice_accesses.h"

namespace shw {
namespace {

constexpr uint32_t kReach = 12;               // steps on each side of the fullest one
constexpr size_t kMostMoved = 6;              // in front and behind, each
constexpr int kMostHalvings = 3;              // of the rows
constexpr double kPartLaunchUs = 1;           // of a part, in addition to its share of the step
constexpr double kMostOfProductParts = 1.02;  // limit on the time of parts

// A slice of the value that keeps all dims: those that are cut away have size 1.
std::optional<Slice> slice_with_dims(const TensorType& type, const SliceLoops& loops) {
  std::optional<Slice> slice = slice_of(type, type.shape, loops);
  while (slice && slice->type.shape.size() < type.shape.size()) {
    slice->type.strides.insert(0, type.strides[type.shape.size() - slice->type.shape.size() - 1]);
    slice->type.shape.insert(0, 1);
  }
  return slice;
}

std::optional<SlicedStep> slice_product(const Program& p, const ProgramStep& step,
                                        const SliceLoops& loops) {
  const ProductRows rows = product_rows(step);
  if (rows.dims == 0 || step.outputs.size() != 1 || !step.outputs[0].valid()) return {};
  SlicedStep sliced;
  sliced.attrs = step.attrs;
  const auto cut = [&](ValueId v) {
    std::optional<Slice> slice = slice_with_dims(p.values[v].type, loops);
    if (slice && slice->dims_cut > rows.dims) slice.reset();
    return slice;
  };
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    Slice whole;
    if (step.inputs[k].valid()) whole.type = p.values[step.inputs[k]].type;
    for (size_t l = 0; l < loops.size(); ++l) whole.stride_bytes.push_back(0);
    const auto slice = rows.inputs[k] ? cut(step.inputs[k]) : whole;
    if (!slice) return {};
    sliced.inputs.push_back(*slice);
  }
  const auto result = cut(step.outputs[0]);
  if (!result || !p.values[step.outputs[0]].type.contiguous()) return {};
  sliced.outputs.push_back(*result);
  return sliced;
}

int64_t part_bytes(const SlicedStep& sliced) {
  int64_t bytes = 0;
  for (const auto* slices : {&sliced.inputs, &sliced.outputs})
    for (const Slice& s : *slices) bytes += s.type.bytes();
  return bytes;
}

// Searches among the steps near the fullest one.
class RowPartsFinder {
 public:
  RowPartsFinder(const Program& p, const FullestStep& fullest, int64_t least_bytes,
                 const std::function<double(int64_t)>& copy_us)
      : p_(p),
        fullest_(fullest),
        copy_us_(copy_us),
        low_(fullest.at - std::min(fullest.at, kReach)),
        end_(std::min<uint32_t>(fullest.at + kReach + 1, static_cast<uint32_t>(p.steps.size()))),
        least_bytes_(least_bytes),
        uses_(p.storages.size(), 0) {}

  std::optional<RowParts> find() {
    for (int k = 0; k < kMostHalvings; ++k) {
      loops_.push_back(2);
      cut_steps();
      for (uint32_t a = low_; a <= fullest_.at; ++a)
        if (cut_[a - low_].sliced) try_from(a);
    }
    return std::move(best_);
  }

 private:
  // Flags for the kinds of steps so far that touch a storage.
  static constexpr uint8_t kMemberReads = 1, kMemberWrites = 2, kFront = 4, kBehindReads = 8,
                           kBehindWrites = 16;

  struct Cut {
    std::optional<SlicedStep> sliced;
    double us = 0;  // of a part
  };

  void cut_steps() {
    cut_.clear();
    for (uint32_t i = low_; i < end_; ++i) cut_.push_back(cut(p_.steps[i]));
  }
  Cut cut(const ProgramStep& step) const {
    if (step.in_place != kNotInPlace || runs_on_link(p_, step)) return {};
    const int64_t parts = int64_t{1} << loops_.size();
    Cut made{{}, step.cost_us / static_cast<double>(parts)};
    if (!loop_shape(p_, step).empty()) {
      made.sliced = slice_step(p_, step, loops_);
    } else if (copy_us_ && !step.attrs.has(AttrKey::kCuts)) {
      made.sliced = slice_product(p_, step, loops_);
      if (!made.sliced) return {};
      made.us = std::max(made.us, copy_us_(part_bytes(*made.sliced) / 2));
      if (static_cast<double>(parts) * made.us > kMostOfProductParts * step.cost_us) return {};
    }
    return made;
  }

  void try_from(uint32_t first) {
    for (StorageId s : touched_) uses_[s.v] = 0;
    touched_.clear();
    run_ = {};
    run_.loops = loops_;
    for (uint32_t i = first; i < end_ && put(i); ++i)
      if (i >= fullest_.at && run_.members.back() == i) consider(first, i);
  }

  // False: the run ends before the step. The caller computes tangents from results, so nothing
  // moves across what reads them.
  bool put(uint32_t i) {
    const ProgramStep& step = p_.steps[i];
    if (touches(p_, step.inputs, PortRole::kTangent)) return false;
    const bool follows_behind = meets(step, kBehindWrites, kBehindReads | kBehindWrites);
    if (cut_[i - low_].sliced) {
      if (follows_behind) return false;
      run_.members.push_back(i);
      mark(step, kMemberReads, kMemberWrites);
    } else if (!follows_behind && !meets(step, kMemberWrites, kMemberReads | kMemberWrites)) {
      run_.front.push_back(i);
      mark(step, kFront, kFront);
    } else {
      run_.behind.push_back(i);
      mark(step, kBehindReads, kBehindWrites);
    }
    return run_.front.size() <= kMostMoved && run_.behind.size() <= kMostMoved;
  }
  // Whether the step reads a storage with a flag in `written`, or writes one with a flag in
  // `touched`.
  bool meets(const ProgramStep& step, uint8_t written, uint8_t touched) const {
    bool does = false;
    for_storages(p_, step.inputs, [&](StorageId s) { does |= (uses_[s.v] & written) != 0; });
    for_storages(p_, step.outputs, [&](StorageId s) { does |= (uses_[s.v] & touched) != 0; });
    return does;
  }
  void mark(const ProgramStep& step, uint8_t reads, uint8_t writes) {
    const auto with = [&](uint8_t use) {
      return [this, use](StorageId s) {
        if (uses_[s.v] == 0) touched_.push_back(s);
        uses_[s.v] |= use;
      };
    };
    for_storages(p_, step.inputs, with(reads));
    for_storages(p_, step.outputs, with(writes));
  }

  bool is_temporary(StorageId s, uint32_t first, uint32_t last) const {
    const StorageLife& life = fullest_.lives[s.v];
    return life.first >= first && life.last <= last && life.writer == life.first &&
           (uses_[s.v] & ~(kMemberReads | kMemberWrites)) == 0;
  }

  // The bytes that are live while the parts run.
  int64_t bytes_of_run(uint32_t first, uint32_t last) {
    int64_t bytes = fullest_.live_bytes;
    std::vector<int64_t> change(last - first + 2, 0);  // of temporaries
    run_.temporaries.clear();
    for (StorageId s : touched_) {
      if (!is_scratch(p_, s)) continue;
      const int64_t own = fullest_.is_of_group[s.v] != 0 ? 0 : padded_bytes(p_, s);
      const StorageLife& life = fullest_.lives[s.v];
      if (fullest_.is_live(s)) bytes -= own;
      if (is_temporary(s, first, last)) {
        run_.temporaries.push_back(s);
        change[life.first - first] += own >> loops_.size();
        change[life.last - first + 1] -= own >> loops_.size();
      } else if ((uses_[s.v] & (kMemberReads | kMemberWrites)) != 0 ||
                 ((life.first < first || (uses_[s.v] & kFront) != 0) &&
                  (life.last > last || (uses_[s.v] & (kBehindReads | kBehindWrites)) != 0))) {
        bytes += own;
      }
    }
    int64_t live = 0, most = 0;
    for (int64_t c : change) most = std::max(most, live += c);
    return bytes + most;
  }

  void consider(uint32_t first, uint32_t last) {
    run_.saved_bytes = fullest_.live_bytes - bytes_of_run(first, last);
    if (run_.saved_bytes < least_bytes_) return;
    const auto parts = static_cast<double>(run_.num_parts());
    run_.more_us = 0;
    for (uint32_t i : run_.members)
      run_.more_us += parts * cut_[i - low_].us - p_.steps[i].cost_us + (parts - 1) * kPartLaunchUs;
    const double saves = static_cast<double>(run_.saved_bytes) / (run_.more_us + kPartLaunchUs);
    if (saves <= most_saves_ || !is_sound()) return;
    most_saves_ = saves;
    best_ = run_;
    for (uint32_t i : run_.members) {
      best_->sliced.push_back(*cut_[i - low_].sliced);
      best_->part_us.push_back(cut_[i - low_].us);
    }
  }
  // Whether each part reads, of what the parts write, only what the same part has written.
  bool is_sound() const {
    SliceAccesses accesses;
    for (uint32_t i : run_.members) add_accesses(p_, i, &*cut_[i - low_].sliced, accesses);
    for (SliceAccess& a : accesses) {
      a.is_temporary = std::ranges::find(run_.temporaries, a.storage) != run_.temporaries.end();
      if (!a.is_temporary) continue;
      const auto writer = std::ranges::find_if(
          accesses, [&](const SliceAccess& w) { return w.writes && w.storage == a.storage; });
      if (!holds_slices(*writer, a)) return false;
    }
    return first_conflict(accesses) == kNoStep;
  }

  const Program& p_;
  const FullestStep& fullest_;
  const std::function<double(int64_t)>& copy_us_;
  const uint32_t low_, end_;
  const int64_t least_bytes_;
  std::vector<uint8_t> uses_;  // by storage, in the run
  std::vector<StorageId> touched_;
  SliceLoops loops_;
  std::vector<Cut> cut_;  // by step from `low_` on
  RowParts run_;
  double most_saves_ = 0;  // bytes per µs
  std::optional<RowParts> best_;
};

// Rewrites the steps.
class RowPartsWriter {
 public:
  RowPartsWriter(Program& p, const RowParts& run) : p_(p), run_(run) {}

  void write() {
    const uint32_t first =
        std::min(run_.members.front(), run_.front.empty() ? kNoStep : run_.front.front());
    std::vector<ProgramStep> steps;
    for (uint32_t i : run_.front) steps.push_back(std::move(p_.steps[i]));
    find_windows();
    for (int64_t part = 0; part < run_.num_parts(); ++part) write_part(part, steps);
    for (uint32_t i : run_.behind) steps.push_back(std::move(p_.steps[i]));
    const size_t count = run_.members.size() + run_.front.size() + run_.behind.size();
    const auto at = p_.steps.erase(p_.steps.begin() + first,
                                   p_.steps.begin() + static_cast<ptrdiff_t>(first + count));
    p_.steps.insert(at, std::move_iterator(steps.begin()), std::move_iterator(steps.end()));
  }

 private:
  // Where a temporary begins in its storage, and the bytes of its slice.
  struct Temporary {
    StorageId whole, part;
    int64_t begin = 0, bytes = 0;
  };
  void find_windows() {
    for (size_t m = 0; m < run_.members.size(); ++m) {
      const ProgramStep& step = p_.steps[run_.members[m]];
      for (size_t k = 0; k < step.outputs.size(); ++k) {
        if (!step.outputs[k].valid()) continue;
        const ProgramValue& v = p_.values[step.outputs[k]];
        if (std::ranges::find(run_.temporaries, v.storage) != run_.temporaries.end())
          temporaries_.push_back(
              {v.storage, {}, v.offset_bytes, run_.sliced[m].outputs[k].type.bytes()});
      }
    }
  }

  void write_part(int64_t part, std::vector<ProgramStep>& steps) {
    for (Temporary& t : temporaries_)
      t.part = p_.storages.push_back({t.bytes, StorageKind::kArena});
    for (size_t m = 0; m < run_.members.size(); ++m) {
      ProgramStep step = p_.steps[run_.members[m]];
      step.attrs = run_.sliced[m].attrs;
      step.cost_us = run_.part_us[m];
      for (size_t k = 0; k < step.inputs.size(); ++k)
        step.inputs[k] = window(step.inputs[k], run_.sliced[m].inputs[k], part);
      for (size_t k = 0; k < step.outputs.size(); ++k)
        step.outputs[k] = window(step.outputs[k], run_.sliced[m].outputs[k], part);
      steps.push_back(std::move(step));
    }
  }
  ValueId window(ValueId of, const Slice& slice, int64_t part) {
    if (!of.valid()) return of;
    ProgramValue v = p_.values[of];
    v.type = slice.type;
    const auto t = std::ranges::find(temporaries_, v.storage, &Temporary::whole);
    if (t != temporaries_.end()) {
      v.storage = t->part;
      v.offset_bytes -= t->begin;
    } else {
      for (size_t l = run_.loops.size(); l-- > 0; part /= run_.loops[l])
        v.offset_bytes += part % run_.loops[l] * slice.stride_bytes[l];
    }
    return p_.values.push_back(std::move(v));
  }

  Program& p_;
  const RowParts& run_;
  std::vector<Temporary> temporaries_;
};

}  // namespace

int64_t RowParts::num_parts() const {
  int64_t parts = 1;
  for (int64_t n : loops) parts *= n;
  return parts;
}

std::optional<RowParts> best_row_parts(const Program& program, const FullestStep& fullest,
                                       int64_t least_bytes,
                                       const std::function<double(int64_t bytes)>& copy_us) {
  return RowPartsFinder(program, fullest, least_bytes, copy_us).find();
}

void run_in_parts(Program& program, const RowParts& run) { RowPartsWriter(program, run).write(); }

}  // namespace shw
