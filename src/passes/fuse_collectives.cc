#include "passes/fuse_collectives.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "passes/entry_schedule.h"
#include "passes/rewrite.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

bool copies(const ProgramStep& s) {
  return (is_copy(s) || is_cast(s)) && s.inputs.size() == 1 && s.outputs.size() == 1 &&
         s.in_place == kNotInPlace;
}

// The steps of the program that write and read a storage.
struct StorageUse {
  uint32_t writer = kNone, num_writers = 0;
  std::vector<uint32_t> readers;
};

std::vector<StorageUse> uses_of(const Program& p) {
  std::vector<StorageUse> uses(p.storages.size());
  for (uint32_t i = 0; i < p.steps.size(); ++i) {
    for (ValueId v : p.steps[i].inputs)
      if (v.valid()) uses[p.values[v].storage.v].readers.push_back(i);
    for (ValueId v : p.steps[i].outputs) {
      if (!v.valid()) continue;
      StorageUse& use = uses[p.values[v].storage.v];
      use.writer = i;
      ++use.num_writers;
    }
  }
  return uses;
}

struct Member {
  uint32_t step;
  uint32_t copier = kNone;  // the step that makes the operand, if that can write elsewhere
  int64_t elements = 0;     // sent by one rank in a gather, or received in a reduce-scatter
  int64_t parts = 1;        // of so many elements in the larger of operand and result
};
using Bucket = std::vector<Member>;

// The window of the same elements after [ranks, elements] has become part of [ranks, stride];
// nothing if no window has these elements.
std::optional<ProgramValue> within(const ProgramValue& v, int64_t elements, int64_t stride) {
  ProgramValue out = v;
  const int64_t size = dtype_size(v.type.dtype), first = v.offset_bytes / size;
  int64_t last = first % elements;  // of a rank's part
  for (size_t d = 0; d < v.type.shape.size(); ++d) {
    if (v.type.shape[d] <= 1) continue;
    if (v.type.strides[d] != 0 && v.type.strides[d] % elements == 0)
      out.type.strides[d] = v.type.strides[d] / elements * stride;
    else
      last += (v.type.shape[d] - 1) * v.type.strides[d];
  }
  if (last >= elements) return {};
  out.offset_bytes = (first / elements * stride + first % elements) * size;
  return out;
}

class EntryFuser {
 public:
  EntryFuser(Program& program, const ProgramEntry& entry, const std::vector<StorageUse>& uses,
             const FuseLimits& limits, const FusePrices& prices)
      : p_(program),
        first_(entry.first_step),
        end_(entry.first_step + entry.num_steps),
        uses_(uses),
        limits_(limits),
        prices_(prices),
        needs_(program, entry),
        schedule_(program, entry, INT64_MAX, true) {}

  // Appends the entry's steps to `steps`; returns by how many the number of collectives fell.
  uint32_t run(std::vector<ProgramStep>& steps) {
    find_buckets();
    uint32_t gone = 0;
    place_.resize(end_ - first_);
    for (uint32_t i = first_; i < end_; ++i) place_[i - first_] = {i, kAsBefore};
    for (const Bucket& b : buckets_) {
      gone += static_cast<uint32_t>(b.size()) - 1;
      if (p_.steps[b[0].step].collective.kind == CollectiveKind::kAllGather)
        fuse_gathers(b);
      else
        fuse_reductions(b);
    }
    if (gone > 0) defer_what_finishes();
    for (uint32_t i = first_; i < end_; ++i)
      if (place_[i - first_].rank != kGone) placed_.push_back({place_[i - first_], p_.steps[i]});
    sort_stably(placed_, {}, [](const Placed& p) { return std::pair(p.place.at, p.place.rank); });
    for (Placed& p : placed_) steps.push_back(std::move(p.step));
    return gone;
  }

 private:
  // The new place of a step: at the step with this number, and its rank among the steps there.
  enum Rank : uint8_t { kPack, kCollective, kAsBefore, kUnpack, kReader, kGone };
  struct Place {
    uint32_t at;
    Rank rank;
  };
  struct Placed {
    Place place;
    ProgramStep step;
  };

  const StorageUse& use(ValueId v) const { return uses_[p_.values[v].storage.v]; }
  StorageKind kind(ValueId v) const { return p_.storages[p_.values[v].storage].kind; }
  bool fills_storage(ValueId v) const {
    const ProgramValue& x = p_.values[v];
    return x.offset_bytes == 0 && x.type.contiguous() &&
           x.type.bytes() == p_.storages[x.storage].bytes;
  }
  // Whether it is a parameter, buffer or constant that the entry does not change.
  bool is_given(ValueId v) const {
    return v.valid() && use(v).num_writers == 0 && is_of_model(p_, p_.values[v].storage);
  }

  std::optional<Member> member(uint32_t i) const {
    const ProgramStep& s = p_.steps[i];
    if (s.inputs.size() != 1 || s.outputs.size() != 1) return {};
    const ValueId in = s.inputs[0], out = s.outputs[0];
    if (!in.valid() || !out.valid() || use(out).num_writers != 1 || !fills_storage(out)) return {};
    const auto [smaller, larger] =
        std::minmax({p_.values[in].type.numel(), p_.values[out].type.numel()});
    if (smaller == 0) return {};
    Member m{.step = i, .elements = smaller, .parts = larger / smaller};
    const uint32_t writer = use(in).writer;
    const bool is_made = kind(in) == StorageKind::kArena && use(in).num_writers == 1 &&
                         use(in).readers.size() == 1 && fills_storage(in);
    if (s.collective.kind == CollectiveKind::kAllGather) {
      if (is_given(in)) return m;
      if (!is_made || !copies(p_.steps[writer]) || !is_given(p_.steps[writer].inputs[0])) return {};
      m.copier = writer;
      return m;
    }
    if (!reduces(s.collective.kind) || !schedule_.only_finishes(i - first_)) return {};
    if (kind(in) != StorageKind::kArena && use(in).num_writers > 0) return {};  // which value?
    const bool adjoins = s.collective.kind == CollectiveKind::kAllReduce;  // in the packed buffer
    if (adjoins && is_made && p_.steps[writer].collective.kind == CollectiveKind::kNone)
      m.copier = writer;
    return m;
  }

  int64_t bytes(const Bucket& bucket) const {
    int64_t elements = 0;
    for (const Member& m : bucket) elements += m.elements;
    return elements * bucket[0].parts * dtype_size(type_of(bucket[0].step).dtype);
  }
  const TensorType& type_of(uint32_t step) const {
    return p_.values[p_.steps[step].outputs[0]].type;
  }
  // The time of the fused collective and of the additional copies.
  double us(const Bucket& bucket) const {
    double us = collective_us(bucket);
    if (bucket.size() == 1) return us;
    for (const Member& m : bucket) us += copies_us(m);
    return us;
  }
  double collective_us(const Bucket& bucket) const {
    const Collective& c = p_.steps[bucket[0].step].collective;
    return prices_.collective_us(c.kind, mask_of(c.axes), bytes(bucket));
  }
  double copies_us(const Member& m) const {
    const ProgramStep& s = p_.steps[m.step];
    const bool gathers = s.collective.kind == CollectiveKind::kAllGather;
    const double packs =
        m.copier == kNone ? prices_.copy_us(p_.values[s.inputs[0]].type.bytes()) : 0;
    const bool unpacks = gathers || kind(s.outputs[0]) != StorageKind::kArena;
    return packs + (unpacks ? prices_.copy_us(type_of(m.step).bytes()) : 0);
  }

  bool fit_together(uint32_t a, uint32_t b) const {
    const ProgramStep &x = p_.steps[a], &y = p_.steps[b];
    return x.collective == y.collective && x.phase == y.phase && x.recomputed == y.recomputed &&
           type_of(a).dtype == type_of(b).dtype;
  }

  void find_buckets() {
    std::vector<Bucket> open;
    for (uint32_t i = first_; i < end_; ++i) {
      if (p_.steps[i].collective.kind == CollectiveKind::kNone) continue;
      const std::optional<Member> m = member(i);
      if (!m) continue;
      const auto found =
          std::ranges::find_if(open, [&](const Bucket& b) { return fit_together(b[0].step, i); });
      if (found == open.end()) {
        open.push_back({*m});
        continue;
      }
      Bucket joined = *found;
      joined.push_back(*m);
      const bool scatters = p_.steps[i].collective.kind == CollectiveKind::kReduceScatter;
      if (bytes(joined) <= (scatters ? limits_.scatter_bytes : limits_.bytes) &&
          i - joined[0].step <= limits_.steps && us(joined) < us(*found) + us({*m})) {
        *found = std::move(joined);
      } else {
        close(*found);
        *found = {*m};
      }
    }
    for (const Bucket& b : open) close(b);
  }
  void close(const Bucket& b) {
    if (b.size() > 1) buckets_.push_back(b);
  }

  ValueId fresh(const TensorType& type) {
    const StorageId s = p_.storages.push_back({type.bytes(), StorageKind::kArena, kNone, -1});
    return p_.values.push_back({type, s, 0});
  }
  // Moves all values of `v`'s storage into that of `in`.
  void move_into(ValueId v, ValueId in, int64_t offset_bytes) {
    const StorageId from = p_.values[v].storage, to = p_.values[in].storage;
    for (ProgramValue& x : p_.values)
      if (x.storage == from) {
        x.storage = to;
        x.offset_bytes += offset_bytes;
      }
  }
  ProgramStep copy_step(const ProgramStep& of, ValueList from, ValueId to) const {
    ProgramStep s;
    s.kernel = "clone";
    s.inputs = std::move(from);
    s.outputs = {to};
    s.node = of.node;
    s.phase = of.phase;
    s.recomputed = of.recomputed;
    s.cost_us = prices_.copy_us(p_.values[to].type.bytes());
    s.basis = PriceBasis::kAnalytical;
    return s;
  }
  ValueId window(ValueId in, const TensorType& type, int64_t offset_bytes) {
    return p_.values.push_back({type, p_.values[in].storage, offset_bytes});
  }
  ProgramStep collective(const Bucket& b, ValueId in, ValueId out) const {
    ProgramStep s = p_.steps[b[0].step];
    s.inputs = {in};
    s.outputs = {out};
    s.cost_us = collective_us(b);
    return s;
  }

  // Makes the packed operand: each part is written by its copier, or by a new copy.
  ValueId pack(const Bucket& b, uint32_t at) {
    int64_t elements = 0;
    for (const Member& m : b) elements += m.elements;
    const Dtype dtype = type_of(b[0].step).dtype;
    const ValueId packed = fresh(row_major(dtype, {elements}));
    int64_t offset = 0;
    for (const Member& m : b) {
      const ProgramStep& s = p_.steps[m.step];
      if (m.copier != kNone) {
        move_into(s.inputs[0], packed, offset);
      } else {
        const TensorType type = p_.values[s.inputs[0]].type;
        placed_.push_back({{at, kPack}, copy_step(s, {s.inputs[0]}, window(packed, type, offset))});
      }
      offset += m.elements * dtype_size(dtype);
    }
    return packed;
  }

  void fuse_gathers(const Bucket& b) {
    const uint32_t at = b[0].step;
    const ValueId packed = pack(b, at);
    for (const Member& m : b)
      if (m.copier != kNone) place_[m.copier - first_] = {at, kPack};
    const TensorType operand = p_.values[packed].type;  // values are added below
    const int64_t stride = operand.shape[0];
    const ValueId out = fresh(row_major(operand.dtype, {b[0].parts, stride}));
    placed_.push_back({{at, kCollective}, collective(b, packed, out)});
    int64_t offset = 0;
    for (const Member& m : b) {
      const ValueId result = p_.steps[m.step].outputs[0];
      const int64_t offset_bytes = offset * dtype_size(operand.dtype);
      offset += m.elements;
      place_[m.step - first_].rank = kGone;
      if (read_in_place(result, m.elements, stride, out, offset_bytes)) continue;
      const ValueId part = window(out, p_.values[result].type, 0);
      p_.values[part] = *within(p_.values[part], m.elements, stride);
      p_.values[part].offset_bytes += offset_bytes;
      placed_.push_back({{m.step, kUnpack}, copy_step(p_.steps[m.step], {part}, result)});
    }
  }

  // Makes the readers of the result read the packed buffer, if all of them are copies that can.
  bool read_in_place(ValueId result, int64_t elements, int64_t stride, ValueId out,
                     int64_t offset) {
    if (kind(result) != StorageKind::kArena) return false;
    const StorageId from = p_.values[result].storage;
    for (uint32_t r : uses_[from.v].readers)
      if (!copies(p_.steps[r]) || !within(p_.values[p_.steps[r].inputs[0]], elements, stride))
        return false;
    for (uint32_t r : uses_[from.v].readers) {
      ProgramValue& v = p_.values[p_.steps[r].inputs[0]];
      if (v.storage != from) continue;  // moved already, by another reader
      v = *within(v, elements, stride);
      v.storage = p_.values[out].storage;
      v.offset_bytes += offset;
    }
    return true;
  }

  // Makes the packed operand of a reduce-scatter: each rank's part consists of the parts for that
  // rank of all fused operands.
  ValueId concatenate(const Bucket& b, uint32_t at) {
    const Dtype dtype = type_of(b[0].step).dtype;
    ValueList operands;
    int64_t elements = 0;
    for (const Member& m : b) {
      const ValueId in = p_.steps[m.step].inputs[0];
      const int64_t offset = p_.values[in].offset_bytes;
      operands.push_back(window(in, row_major(dtype, {m.parts, m.elements}), offset));
      elements += m.elements;
    }
    const ValueId packed = fresh(row_major(dtype, {b[0].parts, elements}));
    ProgramStep cat = copy_step(p_.steps[b[0].step], std::move(operands), packed);
    cat.kernel = "cat";
    cat.attrs.set(AttrKey::kDim, int64_t{1});
    placed_.push_back({{at, kPack}, std::move(cat)});
    return packed;
  }

  void fuse_reductions(const Bucket& b) {
    const uint32_t at = b.back().step;
    const bool scatters = p_.steps[at].collective.kind == CollectiveKind::kReduceScatter;
    const ValueId packed = scatters ? concatenate(b, at) : pack(b, at);
    const TensorType operand = p_.values[packed].type;  // values are added below
    const ValueId out = fresh(row_major(operand.dtype, {operand.shape.back()}));
    placed_.push_back({{at, kCollective}, collective(b, packed, out)});
    int64_t offset = 0;
    for (const Member& m : b) {
      const ProgramStep& s = p_.steps[m.step];
      place_[m.step - first_] = {at, kGone};
      if (kind(s.outputs[0]) == StorageKind::kArena) {
        move_into(s.outputs[0], out, offset);
      } else {
        const ValueId part = window(out, type_of(m.step), offset);
        placed_.push_back({{at, kUnpack}, copy_step(s, {part}, s.outputs[0])});
      }
      offset += type_of(m.step).bytes();
    }
  }

  // Moves steps that finish results behind their reductions, if these are later now.
  void defer_what_finishes() {
    for (uint32_t i = first_; i < end_; ++i) {
      if (!schedule_.finishes(i - first_)) continue;
      for (uint32_t w : needs_.before(i - first_)) {
        const Place& needed = place_[w];
        if (needed.at > place_[i - first_].at) place_[i - first_] = {needed.at, kReader};
      }
    }
  }

  Program& p_;
  const uint32_t first_, end_;  // of the entry's steps
  const std::vector<StorageUse>& uses_;
  const FuseLimits& limits_;
  const FusePrices& prices_;
  const Dependencies needs_;
  const EntrySchedule schedule_;
  std::vector<Bucket> buckets_;
  std::vector<Place> place_;  // by step of the entry
  std::vector<Placed> placed_;
};

}  // namespace

uint32_t fuse_collectives(Program& p, const FuseLimits& limits, const FusePrices& prices) {
  const std::vector<StorageUse> uses = uses_of(p);
  std::vector<ProgramStep> steps;
  std::vector<uint32_t> first_steps;
  uint32_t gone = 0;
  for (const ProgramEntry& e : p.entries) {
    first_steps.push_back(static_cast<uint32_t>(steps.size()));
    gone += EntryFuser(p, e, uses, limits, prices).run(steps);
  }
  first_steps.push_back(static_cast<uint32_t>(steps.size()));
  for (size_t e = 0; e < p.entries.size(); ++e) {
    p.entries[e].first_step = first_steps[e];
    p.entries[e].num_steps = first_steps[e + 1] - first_steps[e];
  }
  p.steps = std::move(steps);
  keep_steps(p, std::vector<uint8_t>(p.steps.size(), 1));
  return gone;
}

}  // namespace shw
