#include "runtime/fusion/group.h"

#include <algorithm>

namespace shw::runtime {
namespace {

constexpr int64_t kSliceElements = 8192;  // of the largest operand: with its neighbours in an L1
                                          // cache, or not far from it
constexpr uint32_t kMostSteps = 48, kMostAfter = 6, kLookAhead = 8;
constexpr int64_t kLeastElements = 16384;  // below, a launch costs more than the memory

// Memory in which storages may follow one another at the same place, or a storage by itself.
constexpr int64_t kArena = -1, kSession = -2;
int64_t memory_of(const Program& program, StorageId storage) {
  const StorageKind kind = program.storages[storage].kind;
  return kind == StorageKind::kArena     ? kArena
         : kind == StorageKind::kSession ? kSession
                                         : int64_t{storage.v};
}

// Bytes that a step reads or writes.
struct Access {
  uint32_t step;
  bool writes;
  const Slice* slice;  // null: the step does not run in slices
  StorageId storage;
  int64_t memory;
  int64_t begin, end;
  const TensorType* type;
};

int64_t span_bytes(const TensorType& t) {
  if (t.numel() == 0) return 0;
  int64_t last = 0;
  for (size_t d = 0; d < t.shape.size(); ++d) last += (t.shape[d] - 1) * t.strides[d];
  return (last + 1) * dtype_size(t.dtype);
}

bool meet(const Access& a, const Access& b) {
  return a.memory == b.memory && a.begin < b.end && b.begin < a.end;
}

// Each slice of `whole` is a piece of memory of its own, and the slice of `part` with the same
// number lies in it.
bool holds_slices(const Access& whole, const Access& part) {
  const Slice &w = *whole.slice, &p = *part.slice;
  if (!whole.type->contiguous() || !w.type.contiguous() || w.stride_bytes != p.stride_bytes)
    return false;
  const int64_t piece = w.type.bytes(), offset = part.begin - whole.begin;
  for (size_t l = 0; l < w.stride_bytes.size(); ++l)
    if (w.stride_bytes[l] < piece) return false;
  return offset >= 0 && offset + span_bytes(p.type) <= piece;
}

// Whether the order of two accesses matters only within a slice.
bool sliced_alike(const Access& a, const Access& b) {
  if (a.slice == nullptr || b.slice == nullptr) return false;
  if (holds_slices(a, b) || holds_slices(b, a)) return true;
  return a.begin == b.begin && *a.type == *b.type &&
         a.slice->stride_bytes == b.slice->stride_bytes && a.slice->type == b.slice->type &&
         std::ranges::find(a.slice->stride_bytes, 0) == a.slice->stride_bytes.end();
}

class Finder {
 public:
  Finder(const Program& program, const StorageUses& uses, uint32_t first, uint32_t end)
      : program_(program), uses_(uses), first_(first), end_(std::min(end, first + kMostSteps)) {}

  std::optional<StepGroup> find() {
    if (!choose_loops()) return {};
    collect();
    while (members_.size() > 1) {
      drop_trailing();
      list_accesses();
      find_temporaries();
      const uint32_t cut = first_conflict();
      if (cut == UINT32_MAX) return finish();
      cut_before(cut);
    }
    return {};
  }

 private:
  struct Member {
    uint32_t step;
    SlicedStep sliced;
  };

  const ProgramStep& step(uint32_t s) const { return program_.steps[s]; }
  // Steps are not moved across what other streams wait for.
  bool goes_on_to(uint32_t s) const {
    return s < end_ && step(s).stream == step(first_).stream &&
           (s == first_ || (step(s).waits.empty() && step(s - 1).records == kNoEvent));
  }

  bool choose_loops() {
    Dims largest;
    int64_t most = 0;
    for (uint32_t s = first_; s < first_ + kLookAhead && goes_on_to(s); ++s) {
      const Dims shape = loop_shape(program_, step(s));
      int64_t elements = shape.empty() ? 0 : 1;
      for (const int64_t n : shape) elements *= n;
      if (shape.empty() && s == first_) return false;
      if (elements <= most) continue;
      most = elements;
      largest = shape;
    }
    if (most < kLeastElements) return false;
    loops_ = loops_for(largest, kSliceElements);
    return !loops_.empty();
  }

  void collect() {
    for (uint32_t s = first_; goes_on_to(s); ++s) {
      std::optional<SlicedStep> sliced;
      if (!loop_shape(program_, step(s)).empty()) sliced = slice_step(program_, step(s), loops_);
      if (sliced)
        members_.push_back({s, std::move(*sliced)});
      else if (s == first_ || runs_on_link(program_, step(s)) || after_.size() == kMostAfter)
        return;
      else
        after_.push_back(s);
    }
  }

  void drop_trailing() {
    while (!after_.empty() && after_.back() > members_.back().step) after_.pop_back();
  }
  void cut_before(uint32_t s) {
    while (!members_.empty() && members_.back().step >= s) members_.pop_back();
    while (!after_.empty() && after_.back() >= s) after_.pop_back();
  }

  void add_accesses(uint32_t s, const std::vector<ValueId>& values, bool writes,
                    const std::vector<Slice>* slices) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].valid()) continue;
      const ProgramValue& v = program_.values[values[i]];
      const ProgramStorage& storage = program_.storages[v.storage];
      const int64_t memory = memory_of(program_, v.storage),
                    begin = v.offset_bytes + (memory < 0 ? storage.offset_bytes : 0);
      accesses_.push_back({s, writes, slices == nullptr ? nullptr : &(*slices)[i], v.storage,
                           memory, begin, begin + span_bytes(v.type), &v.type});
    }
  }
  void list_accesses() {
    accesses_.clear();
    for (const Member& m : members_) {
      add_accesses(m.step, step(m.step).inputs, false, &m.sliced.inputs);
      add_accesses(m.step, step(m.step).outputs, true, &m.sliced.outputs);
    }
    for (const uint32_t s : after_) {
      add_accesses(s, step(s).inputs, false, nullptr);
      add_accesses(s, step(s).outputs, true, nullptr);
    }
  }

  // Storages of scratch that nobody but members sees, the first of whom writes all that others
  // read.
  void find_temporaries() {
    temporaries_.clear();
    for (const Access& a : accesses_)
      if (a.writes && a.memory == kArena && a.slice != nullptr && only_here(a.storage, a))
        temporaries_.push_back(&a);
  }
  bool only_here(StorageId storage, const Access& writer) const {
    size_t here = 0;
    for (const Access& a : accesses_) {
      if (a.storage != storage) continue;
      if (a.slice == nullptr || (a.writes && &a != &writer) || a.step < writer.step ||
          !holds_slices(writer, a))
        return false;
      ++here;
    }
    return here == uses_[storage];
  }
  const Access* temporary_of(StorageId storage) const {
    for (const Access* t : temporaries_)
      if (t->storage == storage) return t;
    return nullptr;
  }

  // The first step that must not run before a slice of an earlier one, or before one that was put
  // behind the group.
  uint32_t first_conflict() const {
    uint32_t first = UINT32_MAX;
    for (const Access& a : accesses_) {
      if (temporary_of(a.storage) != nullptr) continue;
      for (const Access& b : accesses_) {
        if (b.step <= a.step || b.step >= first || (!a.writes && !b.writes) || !meet(a, b) ||
            temporary_of(b.storage) != nullptr)
          continue;
        const bool kept_in_order = b.slice == nullptr;  // it runs behind the group, as b stood
        if (!kept_in_order && !sliced_alike(a, b)) first = b.step;
      }
    }
    return first;
  }

  StepGroup finish() {
    StepGroup group;
    group.loops = loops_;
    group.after = after_;
    group.end = std::max(members_.back().step, after_.empty() ? 0 : after_.back()) + 1;
    const std::vector<int64_t> places = place_temporaries(group.scratch_bytes);
    for (Member& m : members_) {
      FusedStep& member = group.members.emplace_back();
      member.step = m.step;
      member.attrs = std::move(m.sliced.attrs);
      add_operands(step(m.step).inputs, m.sliced.inputs, places, member);
      add_operands(step(m.step).outputs, m.sliced.outputs, places, member);
    }
    return group;
  }
  // Where each temporary lies. One takes the place of another whose last reader has run, so that
  // few of them fill the cache.
  std::vector<int64_t> place_temporaries(int64_t& scratch_bytes) const {
    struct Place {
      int64_t begin, bytes;
      uint32_t free_after;  // the step
    };
    std::vector<Place> places;
    std::vector<int64_t> begins;
    for (const Access* t : temporaries_) {  // in the order of the steps that write them
      const int64_t bytes = (t->slice->type.bytes() + 63) / 64 * 64;
      auto place = std::ranges::find_if(
          places, [&](const Place& p) { return p.bytes == bytes && p.free_after < t->step; });
      if (place == places.end()) {
        place = places.insert(places.end(), {scratch_bytes, bytes, 0});
        scratch_bytes += bytes;
      }
      for (const Access& a : accesses_)
        if (a.storage == t->storage) place->free_after = a.step;
      begins.push_back(place->begin);
    }
    return begins;
  }
  void add_operands(const std::vector<ValueId>& values, const std::vector<Slice>& slices,
                    const std::vector<int64_t>& places, FusedStep& member) const {
    for (size_t i = 0; i < values.size(); ++i) {
      FusedOperand& operand = member.operands.emplace_back();
      operand.value = values[i];
      operand.slice = slices[i];
      if (!values[i].valid()) continue;
      const ProgramValue& v = program_.values[values[i]];
      for (size_t t = 0; t < temporaries_.size(); ++t)
        if (temporaries_[t]->storage == v.storage)
          operand.temporary = places[t] + v.offset_bytes +
                              program_.storages[v.storage].offset_bytes - temporaries_[t]->begin;
    }
  }

  const Program& program_;
  const StorageUses& uses_;
  const uint32_t first_, end_;
  SliceLoops loops_;
  std::vector<Member> members_;
  std::vector<uint32_t> after_;
  std::vector<Access> accesses_;
  std::vector<const Access*> temporaries_;
};

}  // namespace

StorageUses storage_uses(const Program& program) {
  StorageUses uses(program.storages.size(), 0);
  for (const ProgramStep& step : program.steps)
    for (const auto* values : {&step.inputs, &step.outputs})
      for (const ValueId v : *values)
        if (v.valid()) ++uses[program.values[v].storage];
  return uses;
}

std::optional<StepGroup> find_group(const Program& program, const StorageUses& uses, uint32_t step,
                                    uint32_t end) {
  return Finder(program, uses, step, end).find();
}

}  // namespace shw::runtime
