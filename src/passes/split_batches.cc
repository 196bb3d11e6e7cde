#include "passes/split_batches.h"

#include <algorithm>
#include <optional>

#include "passes/step_uses.h"
#include "plan/port_uses.h"
#include "plan/product_rows.h"

namespace shw {
namespace {

constexpr int64_t kMostParts = 8;
// The parts of a product may take this much longer than the whole, since the collectives that they
// hide take far longer.
constexpr double kMostOfProduct = 1.02;

// A collective and its copy. `whole` holds [batch, ranks, block]: what the copy behind a gather
// makes, or the copy in front of a reduce-scatter reads.
struct Site {
  uint32_t collective = kNoStep, copy = kNoStep;
  StorageId whole;
  int64_t batch = 0, ranks = 0, block = 0;
  double part_us = 0;  // of the collective
};

class Splitter {
 public:
  Splitter(Program& program, const FusePrices& prices)
      : p_(program),
        prices_(prices),
        uses_(program.storages.size()),
        later_uses_(program.storages.size()) {}

  uint32_t run() {
    find_uses();
    find_sites();
    if (sites_.empty()) return 0;
    for (ProgramEntry& e : p_.entries) rewrite(e);
    p_.steps = std::move(steps_);
    return static_cast<uint32_t>(sites_.size());
  }

 private:
  void find_uses() {
    uses_ = step_uses(p_);
    for (const Port& port : p_.ports)  // the caller also uses ports
      if (port.value.valid()) {
        StepUses& use = uses_[p_.values[port.value].storage.v];
        ++use.num_readers;
        if (is_input(port.role)) ++use.num_writers;
      }
  }

  void find_sites() {
    role_.assign(p_.steps.size(), Role::kStays);
    site_of_.assign(p_.steps.size(), kNoStep);
    batch_of_.assign(p_.storages.size(), 0);
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      if (!is_copy(p_.steps[i])) continue;
      std::optional<Site> site = behind_gather(i);
      if (!site) site = before_scatter(i);
      if (!site || site->batch > kMostParts || !pays(*site)) continue;
      const auto number = static_cast<uint32_t>(sites_.size());
      role_[site->copy] = Role::kDropped;
      role_[site->collective] = Role::kCollective;
      site_of_[site->collective] = number;
      batch_of_[site->whole.v] = site->batch;
      sites_.push_back(*site);
    }
  }

  const ProgramValue& in(uint32_t i) const { return p_.values[p_.steps[i].inputs[0]]; }
  const ProgramValue& out(uint32_t i) const { return p_.values[p_.steps[i].outputs[0]]; }
  // Whether the value is [a, b, block] and covers its storage in the order [b, a, block].
  bool is_swapped(const ProgramValue& v) const {
    if (v.type.rank() != 3 || v.offset_bytes != 0) return false;
    const Dims &n = v.type.shape, &s = v.type.strides;
    return n[0] > 1 && n[1] > 1 && s[0] == n[2] && s[1] == n[0] * n[2] && s[2] == 1 &&
           v.type.bytes() == p_.storages[v.storage].bytes;
  }

  // The site if the copy reads a gather's result, and nothing else reads that.
  std::optional<Site> behind_gather(uint32_t copy) const {
    const ProgramValue &from = in(copy), &to = out(copy);
    const StepUses& between = uses_[from.storage.v];
    if (between.num_writers != 1 || between.num_readers != 1) return {};
    const ProgramStep& gather = p_.steps[between.last_writer];
    if (gather.collective.kind != CollectiveKind::kAllGather ||
        !p_.lies_in(p_.steps[copy].inputs[0], StorageKind::kArena) || !is_swapped(from) ||
        !is_whole(p_, p_.steps[copy].outputs[0]) || uses_[to.storage.v].num_writers != 1 ||
        out(between.last_writer).type.shape[0] != from.type.shape[1] ||
        !in(between.last_writer).type.contiguous())
      return {};
    return Site{between.last_writer, copy, to.storage, from.type.shape[0], from.type.shape[1],
                from.type.shape[2]};
  }

  // The site if a reduce-scatter reads the copy's result, and nothing else reads that.
  std::optional<Site> before_scatter(uint32_t copy) const {
    const ProgramValue &from = in(copy), &to = out(copy);
    const StepUses& between = uses_[to.storage.v];
    if (between.num_writers != 1 || between.num_readers != 1 ||
        !p_.lies_in(p_.steps[copy].outputs[0], StorageKind::kArena))
      return {};
    const ProgramStep& scatter = p_.steps[between.last_reader];
    if (scatter.collective.kind != CollectiveKind::kReduceScatter || !is_swapped(from) ||
        !is_whole(p_, p_.steps[copy].outputs[0]) || !is_whole(p_, scatter.inputs[0]) ||
        !out(between.last_reader).type.contiguous() ||
        in(between.last_reader).type.shape[0] != from.type.shape[0])
      return {};
    return Site{between.last_reader, copy, from.storage, from.type.shape[1], from.type.shape[0],
                from.type.shape[2]};
  }

  bool pays(Site& site) const {
    const ProgramStep& step = p_.steps[site.collective];
    const int64_t bytes =
        std::max(in(site.collective).type.bytes(), out(site.collective).type.bytes());
    const Collective& c = step.collective;
    site.part_us = prices_.collective_us(c.kind, mask_of(c.axes), bytes / site.batch);
    return static_cast<double>(site.batch) * site.part_us <=
           step.cost_us + p_.steps[site.copy].cost_us;
  }

  // ---- the steps anew

  void rewrite(ProgramEntry& e) {
    const auto first = static_cast<uint32_t>(steps_.size());
    for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i) {
      if (role_[i] == Role::kDropped) continue;
      // The caller computes tangents from results.
      if (touches(p_, p_.steps[i].inputs, PortRole::kTangent)) place_later();
      if (role_[i] == Role::kStays) {
        if (const auto parts = parts_of_product(i)) {
          split_product(i, *parts);
          continue;
        }
      }
      if (needs_later(p_.steps[i]) || grows(p_.steps[i])) place_later();
      if (role_[i] == Role::kCollective) {
        const Site& site = sites_[site_of_[i]];
        if (later_uses_[site.whole.v] != 0) place_later();
        split_collective(i, site);
      } else {
        steps_.push_back(std::move(p_.steps[i]));
      }
    }
    place_later();
    e.first_step = first;
    e.num_steps = static_cast<uint32_t>(steps_.size()) - first;
  }

  // Whether a compute step makes more bytes than it reads, such as a cast to a wider type. The
  // later parts should run before it, so that their operands are not live at the same time.
  bool grows(const ProgramStep& s) const {
    return s.collective.kind == CollectiveKind::kNone &&
           type_bytes(p_, s.outputs) > type_bytes(p_, s.inputs);
  }

  ValueId window(StorageId storage, int64_t offset_bytes, TensorType type) {
    return p_.values.push_back({std::move(type), storage, offset_bytes});
  }

  void split_collective(uint32_t i, const Site& site) {
    const bool gathers = p_.steps[i].collective.kind == CollectiveKind::kAllGather;
    const ProgramValue from = in(i), to = out(i);
    const Dtype dtype = from.type.dtype;
    const int64_t block = site.block * dtype_size(dtype), all = site.ranks * block;
    for (int64_t b = 0; b < site.batch; ++b) {
      ProgramStep part = p_.steps[i];
      part.cost_us = site.part_us;
      const auto whole = [&] {
        return window(site.whole, b * all, row_major(dtype, {site.ranks, site.block}));
      };
      if (gathers) {
        part.inputs = {
            window(from.storage, from.offset_bytes + b * block, row_major(dtype, {site.block}))};
        part.outputs = {whole()};
      } else {
        part.inputs = {whole()};
        part.outputs = {
            window(to.storage, to.offset_bytes + b * block, row_major(dtype, {site.block}))};
      }
      steps_.push_back(std::move(part));
    }
  }

  // The number of parts into which a product is split along its leading dim; none if it neither
  // reads nor writes a split storage, or if the parts would take too long.
  struct Parts {
    int64_t count = 0;
    std::vector<uint8_t> inputs;  // whether the rows are those of this input, too
    double us = 0;                // of one
  };
  std::optional<Parts> parts_of_product(uint32_t i) const {
    const ProgramStep& s = p_.steps[i];
    if (s.outputs.size() != 1 || !s.outputs[0].valid() || s.in_place != kNotInPlace ||
        s.attrs.has(AttrKey::kCuts))
      return {};
    Parts parts{.inputs = product_rows(s).inputs};
    for (size_t k = 0; k < parts.inputs.size(); ++k)
      if (parts.inputs[k])
        parts.count = std::max(parts.count, batch_of_[p_.values[s.inputs[k]].storage.v]);
    if (std::ranges::find(parts.inputs, 1) == parts.inputs.end()) return {};
    const ProgramValue& result = p_.values[s.outputs[0]];
    parts.count = std::max(parts.count, batch_of_[result.storage.v]);
    if (parts.count < 2 || !result.type.contiguous() || result.type.shape[0] % parts.count != 0)
      return {};
    int64_t bytes = 0;  // of one part: read and written
    for (size_t k = 0; k < s.inputs.size(); ++k)
      if (s.inputs[k].valid())
        bytes += p_.values[s.inputs[k]].type.bytes() / (parts.inputs[k] ? parts.count : 1);
    bytes += result.type.bytes() / parts.count;
    parts.us = std::max(s.cost_us / static_cast<double>(parts.count), prices_.copy_us(bytes / 2));
    if (static_cast<double>(parts.count) * parts.us > kMostOfProduct * s.cost_us) return {};
    return parts;
  }

  ValueId rows_of(ValueId v, int64_t part, int64_t parts) {
    ProgramValue value = p_.values[v];
    value.type.shape[0] /= parts;
    value.offset_bytes +=
        part * value.type.shape[0] * value.type.strides[0] * dtype_size(value.type.dtype);
    return p_.values.push_back(std::move(value));
  }

  // The first sequence's part replaces the product. The other parts are placed when a step needs
  // them, sequence by sequence. So all products of the first sequence come before those of the
  // second, whose gather ends later.
  void split_product(uint32_t i, const Parts& parts) {
    if (!can_join_later(i, parts)) place_later();
    for (int64_t part = 0; part < parts.count; ++part) {
      ProgramStep step = p_.steps[i];
      step.cost_us = parts.us;
      for (size_t k = 0; k < parts.inputs.size(); ++k)
        if (parts.inputs[k]) step.inputs[k] = rows_of(step.inputs[k], part, parts.count);
      step.outputs[0] = rows_of(step.outputs[0], part, parts.count);
      if (part == 0)
        steps_.push_back(std::move(step));
      else
        later_.push_back({part, std::move(step)});
    }
    later_count_ = parts.count;
    for (ValueId v : p_.steps[i].inputs)
      if (v.valid()) later_uses_[p_.values[v].storage.v] |= kRead;
    later_uses_[p_.values[p_.steps[i].outputs[0]].storage.v] |= kWritten;
  }
  // Whether the step reads or writes what a part still to be placed writes, or writes what such a
  // part reads.
  bool needs_later(const ProgramStep& step) const {
    if (later_.empty()) return false;
    const auto is_used = [&](ValueId v, uint8_t uses) {
      return v.valid() && (later_uses_[p_.values[v].storage.v] & uses) != 0;
    };
    return std::ranges::any_of(step.inputs, [&](ValueId v) { return is_used(v, kWritten); }) ||
           std::ranges::any_of(step.outputs,
                               [&](ValueId v) { return is_used(v, kWritten | kRead); });
  }
  // Whether the parts can join those still to be placed: a part may read what the same sequence's
  // part of an earlier product writes.
  bool can_join_later(uint32_t i, const Parts& parts) const {
    ProgramStep rest = p_.steps[i];
    if (parts.count == later_count_)
      for (size_t k = 0; k < parts.inputs.size(); ++k)
        if (parts.inputs[k]) rest.inputs[k] = ValueId();
    return !needs_later(rest);
  }
  void place_later() {
    for (int64_t part = 1; part < kMostParts && !later_.empty(); ++part)
      for (Later& l : later_)
        if (l.part == part) steps_.push_back(std::move(l.step));
    later_.clear();
    std::ranges::fill(later_uses_, uint8_t{0});
  }

  enum class Role : uint8_t { kStays, kDropped, kCollective };
  struct Later {
    int64_t part;
    ProgramStep step;
  };
  static constexpr uint8_t kRead = 1, kWritten = 2;
  Program& p_;
  const FusePrices& prices_;
  std::vector<StepUses> uses_;     // by storage
  std::vector<int64_t> batch_of_;  // by storage: its number of parts; 0: not split
  std::vector<Role> role_;         // by step
  std::vector<uint32_t> site_of_;  // by collective
  std::vector<Site> sites_;
  std::vector<ProgramStep> steps_;
  std::vector<Later> later_;         // parts of products that are still to be placed
  std::vector<uint8_t> later_uses_;  // by storage
  int64_t later_count_ = 0;          // number of parts of the last product
};

}  // namespace

uint32_t split_batches(Program& program, const FusePrices& prices) {
  return Splitter(program, prices).run();
}

}  // namespace shw
