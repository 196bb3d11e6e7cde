#include "passes/split_rows.h"

#include <algorithm>
#include <optional>

#include "passes/pass.h"
#include "passes/step_uses.h"
#include "plan/product_rows.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// A collective must save at least this share of the compute time of its entry: kLeastShareSaved for
// small programs, which are scheduled with and without splitting; kLeastShareOfLarge for large
// ones, where only the estimate decides.
constexpr double kLeastShareSaved = 1.0 / 1024, kLeastShareOfLarge = 1.0 / 256;
constexpr int64_t kPartCounts[] = {2, 4};
// The parts of products may take this much longer than the whole.
constexpr double kMostOfParts = 1.02;
// Programs with at most this many steps are scheduled with and without splitting: a few
// milliseconds each.
constexpr size_t kStepsToCompare = 2000;
constexpr size_t kMostReaders = 4;  // that read one gathered tensor

// A collective in parts.
struct RowSite {
  uint32_t collective = kNoStep;
  std::vector<uint32_t> products;   // behind a gather; in front of a reduce-scatter: one
  std::vector<size_t> operands;     // of these products: which one is the gathered tensor
  uint32_t other_reader = kNoStep;  // first other reader of the gathered tensor
  int64_t ranks = 0, parts = 0;
  double part_us = 0, copy_us = 0, saved_us = 0;
  std::vector<double> product_us;  // of a part of one rank's rows, by product
};

class RowSplitter {
 public:
  RowSplitter(Program& p, const FusePrices& prices) : p_(p), prices_(prices), uses_(step_uses(p)) {}

  uint32_t run() {
    std::vector<Steps> collectives;
    bool any = false;
    for (const ProgramEntry& e : p_.entries) {
      collectives.push_back(long_collectives(e));
      any |= !collectives.back().empty();
    }
    if (!any) return 0;
    find_readers(collectives);
    std::vector<std::vector<RowSite>> sites;
    uint32_t count = 0;
    for (size_t e = 0; e < p_.entries.size(); ++e) {
      sites.push_back(sites_of(p_.entries[e], collectives[e]));
      count += static_cast<uint32_t>(sites[e].size());
    }
    if (count == 0) return 0;
    for (size_t e = 0; e < sites.size(); ++e) rewrite(p_.entries[e], sites[e]);
    p_.steps = std::move(steps_);
    return count;
  }

 private:
  using Steps = std::vector<uint32_t>;
  const ProgramValue& in(uint32_t step, size_t k = 0) const {
    return p_.values[p_.steps[step].inputs[k]];
  }
  const ProgramValue& out(uint32_t step) const { return p_.values[p_.steps[step].outputs[0]]; }

  double least_share() const {
    return p_.steps.size() > kStepsToCompare ? kLeastShareOfLarge : kLeastShareSaved;
  }
  double compute_us(const ProgramEntry& e) const {
    double us = 0;
    for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i)
      if (!runs_on_link(p_, p_.steps[i])) us += p_.steps[i].cost_us;
    return us;
  }
  // Gathers and reduce-scatters that take at least the time that splitting must save. Gathers of
  // parameters are excluded, since they start early anyway.
  Steps long_collectives(const ProgramEntry& e) const {
    const double least_us = least_share() * compute_us(e);
    Steps found;
    for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i)
      if (const ProgramStep& s = p_.steps[i];
          s.collective.kind != CollectiveKind::kNone && s.cost_us >= least_us &&
          ((is_collective(i, CollectiveKind::kAllGather) && !is_of_model(in(i).storage)) ||
           is_collective(i, CollectiveKind::kReduceScatter)))
        found.push_back(i);
    return found;
  }
  // Whether the storage belongs to the model, or is a cast of one that does.
  bool is_of_model(StorageId s) const {
    if (shw::is_of_model(p_, s)) return true;
    const StepUses& use = uses_[s.v];
    return use.num_writers == 1 &&
           std::ranges::all_of(p_.steps[use.first_writer].inputs, [&](ValueId v) {
             return !v.valid() || shw::is_of_model(p_, p_.values[v].storage);
           });
  }
  // Finds the readers of gathered tensors.
  void find_readers(const std::vector<Steps>& collectives) {
    readers_of_.assign(p_.storages.size(), kNoStep);
    for (const Steps& steps : collectives)
      for (uint32_t i : steps)
        readers_of_[out(i).storage.v] = static_cast<uint32_t>(readers_.size()),
        readers_.push_back({});
    for (uint32_t i = 0; i < p_.steps.size(); ++i)
      for (ValueId v : p_.steps[i].inputs) {
        if (!v.valid() || readers_of_[p_.values[v].storage.v] == kNoStep) continue;
        Steps& list = readers_[readers_of_[p_.values[v].storage.v]];
        if (list.empty() || list.back() != i) list.push_back(i);
      }
  }

  std::vector<RowSite> sites_of(const ProgramEntry& e, const Steps& collectives) const {
    const double least_us = least_share() * compute_us(e);
    std::vector<RowSite> sites;
    std::vector<uint8_t> taken(e.num_steps, 0);
    const auto take = [&](const std::optional<RowSite>& site) {
      if (!site || site->saved_us < least_us) return;
      for (uint32_t i : site->products)
        if (taken[i - e.first_step]) return;
      for (uint32_t i : site->products) taken[i - e.first_step] = 1;
      sites.push_back(*site);
    };
    for (uint32_t i : collectives)
      take(p_.steps[i].collective.kind == CollectiveKind::kAllGather ? gather_site(i)
                                                                     : scatter_site(i));
    return sites;
  }

  // ---- where

  bool is_collective(uint32_t i, CollectiveKind kind) const {
    const ProgramStep& s = p_.steps[i];
    return s.collective.kind == kind && s.inputs.size() == 1 && s.outputs.size() == 1 &&
           is_whole(p_, s.inputs[0]) && is_whole(p_, s.outputs[0]);
  }
  bool is_scratch(StorageId s) const { return p_.storages[s].kind == StorageKind::kArena; }

  std::optional<RowSite> gather_site(uint32_t i) const {
    const StorageId whole = out(i).storage;
    if (!is_scratch(whole) || uses_[whole.v].num_writers != 1) return {};
    RowSite site;
    site.collective = i;
    site.ranks = out(i).type.shape[0];
    for (uint32_t reader : readers_[readers_of_[whole.v]]) {
      const size_t operand = row_operand(reader, whole);
      if (operand == kNone) {
        site.other_reader = std::min(site.other_reader, reader);
        continue;
      }
      site.products.push_back(reader);
      site.operands.push_back(operand);
    }
    if (site.products.empty() || site.products.size() > kMostReaders) return {};
    if (site.other_reader != kNoStep) site.copy_us = prices_.copy_us(out(i).type.bytes());
    return in_best_parts(site);
  }
  std::optional<RowSite> scatter_site(uint32_t i) const {
    const StorageId whole = in(i).storage;
    const StepUses& use = uses_[whole.v];
    if (!is_scratch(whole) || use.num_readers != 1 || use.num_writers != 1) return {};
    const ProgramStep& product = p_.steps[use.first_writer];
    if (product_rows(product).dims == 0 || product.outputs.size() != 1 ||
        !is_whole(p_, product.outputs[0]))
      return {};
    RowSite site;
    site.collective = i;
    site.products = {use.first_writer};
    site.operands = {kNone};
    site.ranks = in(i).type.shape[0];
    return in_best_parts(site);
  }

  // The index of the product's operand that is the whole storage, if its rows are those of the
  // result.
  size_t row_operand(uint32_t step, StorageId whole) const {
    const ProgramStep& s = p_.steps[step];
    const ProductRows rows = product_rows(s);
    size_t found = kNone;
    for (size_t k = 0; k < s.inputs.size(); ++k) {
      if (!s.inputs[k].valid() || in(step, k).storage != whole) continue;
      if (rows.dims == 0 || !rows.inputs[k] || found != kNone || !is_whole(p_, s.inputs[k]))
        return kNone;
      found = k;
    }
    return found;
  }

  std::optional<RowSite> in_best_parts(RowSite site) const {
    const ProgramStep& c = p_.steps[site.collective];
    const int64_t bytes =
        std::max(in(site.collective).type.bytes(), out(site.collective).type.bytes());
    std::optional<RowSite> best;
    for (const int64_t parts : kPartCounts) {
      site.parts = parts;
      site.part_us =
          prices_.collective_us(c.collective.kind, mask_of(c.collective.axes), bytes / parts);
      if (!cut_products(site)) continue;
      double products_us = 0;
      for (double us : site.product_us) products_us += us;
      products_us *= static_cast<double>(site.ranks);  // of one part
      const double all = static_cast<double>(parts);
      // Compute waits for the part of each next collective that the products do not hide.
      const double waits = site.part_us + (all - 1) * std::max(site.part_us - products_us, 0.0);
      site.saved_us = c.cost_us - waits - site.copy_us;
      for (size_t k = 0; k < site.products.size(); ++k)
        site.saved_us += p_.steps[site.products[k]].cost_us -
                         all * static_cast<double>(site.ranks) * site.product_us[k];
      if (!best || site.saved_us > best->saved_us) best = site;
    }
    return best;
  }
  bool cut_products(RowSite& site) const {
    site.product_us.clear();
    const int64_t blocks = site.ranks * site.parts;
    for (uint32_t i : site.products) {
      const ProgramStep& s = p_.steps[i];
      const ProductRows rows = product_rows(s);
      if (s.outputs.size() != 1 || s.in_place != kNotInPlace || s.attrs.has(AttrKey::kCuts) ||
          !out(i).type.contiguous() || !block_of(out(i), rows.dims, 0, blocks))
        return false;
      int64_t bytes = block_of(out(i), rows.dims, 0, blocks)->type.bytes();
      for (size_t k = 0; k < s.inputs.size(); ++k) {
        if (!s.inputs[k].valid()) continue;
        const auto block = rows.inputs[k] ? block_of(in(i, k), rows.dims, 0, blocks) : in(i, k);
        if (!block) return false;
        bytes += block->type.bytes();
      }
      const auto all = static_cast<double>(blocks);
      const double us = std::max(s.cost_us / all, prices_.copy_us(bytes / 2));
      if (all * us > kMostOfParts * s.cost_us) return false;
      site.product_us.push_back(us);
    }
    return true;
  }

  // One of several equal blocks of rows. Nothing if the blocks do not divide the leading dims.
  static std::optional<ProgramValue> block_of(const ProgramValue& whole, size_t dims, int64_t block,
                                              int64_t blocks) {
    ProgramValue v = whole;
    for (size_t d = 0; d < dims && blocks > 1; ++d) {
      const int64_t n = v.type.shape[d];
      const int64_t cut = blocks % n == 0 ? n : n % blocks == 0 ? blocks : 0;
      if (cut == 0) return {};
      v.type.shape[d] = n / cut;
      blocks /= cut;
      v.offset_bytes += block / blocks * (n / cut) * v.type.strides[d] * dtype_size(v.type.dtype);
      block %= blocks;
    }
    if (blocks > 1) return {};
    return v;
  }

  // ---- the steps anew

  void rewrite(ProgramEntry& e, const std::vector<RowSite>& sites) {
    std::vector<const RowSite*> at(e.num_steps, nullptr), copy_at(e.num_steps, nullptr);
    for (const RowSite& site : sites) {
      at[site.collective - e.first_step] = &site;
      for (uint32_t i : site.products) at[i - e.first_step] = &site;
      if (site.other_reader != kNoStep) copy_at[site.other_reader - e.first_step] = &site;
    }
    parts_of_.resize(p_.storages.size());
    const auto first = static_cast<uint32_t>(steps_.size());
    for (uint32_t k = 0; k < e.num_steps; ++k) {
      const uint32_t i = e.first_step + k;
      if (copy_at[k] != nullptr) put_in_order(*copy_at[k]);
      if (at[k] == nullptr)
        steps_.push_back(std::move(p_.steps[i]));
      else if (p_.steps[at[k]->collective].collective.kind == CollectiveKind::kReduceScatter)
        i == at[k]->collective ? void() : split_scatter(*at[k]);
      else if (i == at[k]->collective)
        split_gather(*at[k]);
      else
        split_reader(*at[k], i);
    }
    e.first_step = first;
    e.num_steps = static_cast<uint32_t>(steps_.size()) - first;
  }

  ValueId add(ProgramValue v) { return p_.values.push_back(std::move(v)); }
  // The value of one part, with some rows of each rank: [ranks, rows of a rank].
  ProgramValue part(StorageId parts, const RowSite& site, int64_t number, Dtype dtype) const {
    const int64_t elements = p_.storages[parts].bytes / dtype_size(dtype) / site.parts / site.ranks;
    return {row_major(dtype, {site.ranks, elements}), parts,
            number * site.ranks * elements * dtype_size(dtype)};
  }
  // One rank's rows of a part, with the type of a block of the whole.
  ProgramValue in_parts(StorageId parts, const RowSite& site, ProgramValue block, int64_t number,
                        int64_t rank) const {
    block.storage = parts;
    block.offset_bytes = (number * site.ranks + rank) * block.type.bytes();
    return block;
  }
  ValueId rank_rows(const ProgramValue& local, const RowSite& site, int64_t number) {
    const int64_t elements = local.type.numel() / site.parts;
    return add({row_major(local.type.dtype, {elements}), local.storage,
                local.offset_bytes + number * elements * dtype_size(local.type.dtype)});
  }

  void split_gather(const RowSite& site) {
    const ProgramStep whole = p_.steps[site.collective];
    const ProgramValue from = in(site.collective);
    const StorageId parts = p_.storages.push_back(
        {p_.storages[out(site.collective).storage].bytes, StorageKind::kArena});
    parts_of_[out(site.collective).storage.v] = parts;
    for (int64_t n = 0; n < site.parts; ++n) {
      ProgramStep step = whole;
      step.cost_us = site.part_us;
      step.inputs = {rank_rows(from, site, n)};
      step.outputs = {add(part(parts, site, n, from.type.dtype))};
      steps_.push_back(std::move(step));
    }
  }
  void split_reader(const RowSite& site, uint32_t i) {
    const auto k = static_cast<size_t>(std::ranges::find(site.products, i) - site.products.begin());
    const StorageId parts = parts_of_[out(site.collective).storage.v];
    for (int64_t n = 0; n < site.parts; ++n)
      for (int64_t rank = 0; rank < site.ranks; ++rank) {
        ProgramStep step = block_step(site, i, k, rank * site.parts + n);
        const size_t operand = site.operands[k];
        step.inputs[operand] = add(in_parts(parts, site, p_.values[step.inputs[operand]], n, rank));
        steps_.push_back(std::move(step));
      }
  }
  ProgramStep block_step(const RowSite& site, uint32_t i, size_t k, int64_t block) {
    ProgramStep step = p_.steps[i];
    const ProductRows rows = product_rows(step);
    const int64_t blocks = site.ranks * site.parts;
    step.cost_us = site.product_us[k];
    for (size_t o = 0; o < step.inputs.size(); ++o)
      if (rows.inputs[o] && step.inputs[o].valid())
        step.inputs[o] = add(*block_of(p_.values[step.inputs[o]], rows.dims, block, blocks));
    step.outputs[0] = add(*block_of(p_.values[step.outputs[0]], rows.dims, block, blocks));
    return step;
  }
  void split_scatter(const RowSite& site) {
    const ProgramStep whole = p_.steps[site.collective];
    const ProgramValue to = out(site.collective);
    const StorageId parts = p_.storages.push_back(
        {p_.storages[in(site.collective).storage].bytes, StorageKind::kArena});
    for (int64_t n = 0; n < site.parts; ++n) {
      for (int64_t rank = 0; rank < site.ranks; ++rank) {
        ProgramStep step = block_step(site, site.products[0], 0, rank * site.parts + n);
        step.outputs[0] = add(in_parts(parts, site, p_.values[step.outputs[0]], n, rank));
        steps_.push_back(std::move(step));
      }
      ProgramStep step = whole;
      step.cost_us = site.part_us;
      step.inputs = {add(part(parts, site, n, to.type.dtype))};
      step.outputs = {rank_rows(to, site, n)};
      steps_.push_back(std::move(step));
    }
  }
  // Adds the copy that puts the parts in order, for readers of the whole gathered tensor.
  void put_in_order(const RowSite& site) {
    const ProgramValue whole = out(site.collective);
    const int64_t block = whole.type.numel() / site.ranks / site.parts;
    ProgramStep step;
    step.kernel = "clone";
    step.node = p_.steps[site.other_reader].node;
    step.phase = p_.steps[site.other_reader].phase;
    step.cost_us = site.copy_us;
    step.basis = PriceBasis::kAnalytical;
    ProgramValue from{row_major(whole.type.dtype, {site.ranks, site.parts, block}),
                      parts_of_[whole.storage.v], 0};
    ProgramValue to = from;
    from.type.strides = {block, site.ranks * block, 1};
    to.storage = whole.storage;
    step.inputs = {add(from)};
    step.outputs = {add(to)};
    steps_.push_back(std::move(step));
  }

  static constexpr size_t kNone = SIZE_MAX;
  Program& p_;
  const FusePrices& prices_;
  const std::vector<StepUses> uses_;  // by storage
  std::vector<uint32_t> readers_of_;  // by storage: in `readers_`
  std::vector<Steps> readers_;
  std::vector<StorageId> parts_of_;  // by storage of a gather's result
  std::vector<ProgramStep> steps_;
};

}  // namespace

uint32_t split_rows(Program& program, const FusePrices& prices) {
  return RowSplitter(program, prices).run();
}

Status split_rows_where_faster(Program& program, const FusePrices& prices,
                               const PassOptions& options, Monitor& monitor) {
  static constexpr const PassDef* kSchedule[] = {&kScheduleCollectives};
  if (program.steps.size() > kStepsToCompare) {
    split_rows(program, prices);
    return {};
  }
  Program split = program;
  if (split_rows(split, prices) == 0) return {};
  Program scheduled[] = {program, split};
  for (Program& p : scheduled)
    SHW_RETURN_IF_ERROR(run_passes(p, kSchedule, options, monitor, Verify::kLater).status());
  if (simulated_us(scheduled[1]) < simulated_us(scheduled[0])) program = std::move(split);
  return {};
}

}  // namespace shw
