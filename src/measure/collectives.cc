#include "measure/collectives.h"

#include <algorithm>
#include <cstdint>

#include "measure/kernel_cases.h"
#include "runtime/bench/bench.h"

// If the ranks keep all cores busy, the time of a collective is its CPU time divided by the number
// of cores, which does not depend on other load of the machine. If cores are idle, it is the
// elapsed time.
//
// Between two collectives each rank computes for a while, as in a model: it writes what the next
// one reads, and reads what the last one wrote, so that data has to come from other cores' caches.
// A product and a few other kernels follow. They never take the same time on two ranks, so one rank
// waits for the other. Both effects are part of the time of a collective.
namespace shw::measure {
namespace {

constexpr int64_t kRanks[] = {2, 4, 8};
constexpr int kAttempts = 3, kLeastPairs = 2, kPairs = 7, kMostPairs = 21;
constexpr double kMostIdle = 0.2;
constexpr double kEnoughForPairsUs = 60000;  // total time of all pairs of one collective and size
constexpr int64_t kDevices = INT64_MAX;      // used as the number of cores: each rank has a device
constexpr double kLeastUs = 0.1;             // used if a collective's time is below the noise

// Together some fifty microseconds.
constexpr int64_t kSide = 96;            // of a product
constexpr Extent kExtent{1 << 14, 128};  // of the others
constexpr std::string_view kBetween[] = {"mul", "exp", "sum", "clone"};

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllReduce, CollectiveKind::kAllToAll,
                                     CollectiveKind::kPermute};

// Products that keep all cores busy for about 20 ms.
constexpr int64_t kSpreadSide = 512, kSpreadProducts = 16;

// How often a collective is repeated in a run.
int times_for(int64_t bytes) { return bytes < 1 << 15 ? 32 : bytes < 1 << 19 ? 8 : 3; }

// The operand and the result of a collective. `bytes` as prices count them: of the result for an
// all-gather, of the operand for all others.
struct Exchange {
  CollectiveKind kind;
  int64_t most_bytes;  // maximum of all; offset of the operand; the result is at twice this offset
  TensorType in, out;
};

Exchange exchange(CollectiveKind kind, int64_t ranks, int64_t bytes, int64_t most_bytes) {
  const int64_t count = bytes / 4, share = count / ranks;
  const TensorType whole = row_major(Dtype::kF32, {count}), part = row_major(Dtype::kF32, {share}),
                   parts = row_major(Dtype::kF32, {ranks, share});
  Exchange e{kind, most_bytes, whole, whole};
  if (kind == CollectiveKind::kAllGather) e.in = part, e.out = parts;
  if (kind == CollectiveKind::kReduceScatter) e.in = parts, e.out = part;
  if (kind == CollectiveKind::kAllToAll) e.in = e.out = parts;
  return e;
}

// A step that reads the result of the step before, or a source, and writes as many bytes.
ProbeMaker::Step passed_on(ProbeMaker& maker, const TensorType& type, int64_t to_byte,
                           bool reads_last) {
  ProgramStep step;
  step.kernel = "neg";
  step.inputs = {maker.operand(Source::kFirst, type)};
  return {std::move(step), {type}, to_byte, reads_last};
}

ProbeMaker::Step collective(ProbeMaker& maker, const Exchange& e, bool reads_last) {
  ProgramStep step;
  step.kernel = "collective";
  step.inputs = {maker.operand(Source::kFirst, e.in)};
  step.collective = {e.kind, ReduceOp::kSum, {0, 1}};
  if (e.kind == CollectiveKind::kPermute) step.collective.to_axes = {1, 0};
  return {std::move(step), {e.out}, 2 * e.most_bytes, reads_last};
}

std::vector<ProbeMaker::Step> repeated(const std::vector<ProbeMaker::Step>& steps, int times) {
  std::vector<ProbeMaker::Step> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), steps.begin(), steps.end());
  return all;
}

// Whether the last sample took much longer than the first. Otherwise other work on the machine may
// have taken as long as the collective.
bool tells_bandwidth(const cost::Measurement& m) {
  return !m.samples.empty() && m.samples.back().us > 2 * m.samples.front().us;
}

// An entry with collectives of one kind and size, the same entry without, and one that computes for
// long enough that the system spreads the workers over the cores.
struct Pair {
  size_t with, without, spread;
};

// Both runs of a pair in immediate succession, so that other load of the machine slows both.
struct PairOfRuns {
  double more_us;  // additional time of the run with collectives
  double idle;     // the share of time in which the ranks' cores were idle; the larger of both runs
  double both_us;
};

Result<PairOfRuns> run_pair(Probe& probe, const Pair& pair, int64_t ranks, int64_t cores) {
  const auto busy = static_cast<double>(std::min(ranks, cores));
  SHW_ASSIGN_OR_RETURN(const Probe::RunTime with, probe.run_time(pair.with));
  SHW_ASSIGN_OR_RETURN(const Probe::RunTime without, probe.run_time(pair.without));
  const auto idle = [&](const Probe::RunTime& t) { return 1 - t.cpu_us / (busy * t.wall_us); };
  return PairOfRuns{
      ranks < cores ? with.wall_us - without.wall_us : (with.cpu_us - without.cpu_us) / busy,
      std::max(idle(with), idle(without)), with.wall_us + without.wall_us};
}

// How much longer a run takes with collectives: the median of several pairs of runs. Ranks that
// share one core, because others are busy, never wait and find all data in its cache. So only the
// pairs count in which cores were least idle. After a pair with idle cores the workers are spread
// again.
Result<double> difference_us(Probe& probe, const Pair& pair, int64_t ranks, int64_t cores) {
  SHW_RETURN_IF_ERROR(run_pair(probe, pair, ranks, cores).status());  // touches the memory
  std::vector<PairOfRuns> runs;
  double spent_us = 0;
  const auto is_good = [&](const PairOfRuns& r) { return cores == kDevices || r.idle < kMostIdle; };
  while (std::ssize(runs) < kLeastPairs ||
         (std::ssize(runs) < kMostPairs && spent_us < kEnoughForPairsUs &&
          std::ranges::count_if(runs, is_good) < kPairs)) {
    if (!runs.empty() && !is_good(runs.back()))
      SHW_RETURN_IF_ERROR(probe.run_time(pair.spread).status());
    SHW_ASSIGN_OR_RETURN(runs.emplace_back(), run_pair(probe, pair, ranks, cores));
    spent_us += runs.back().both_us;
  }
  std::ranges::sort(runs, {}, &PairOfRuns::idle);
  runs.resize(std::min<size_t>(runs.size(), kPairs));
  std::vector<double> more;
  for (const PairOfRuns& r : runs) more.push_back(r.more_us);
  return runtime::quartiles_of(std::move(more)).median;
}

// The hardware of the ranks. `cores` = kDevices: each has a device of its own.
struct Machine {
  const runtime::RankBackend& backend;
  int64_t cores;
  int64_t side;                       // of the product between two collectives
  const std::vector<int64_t>& sizes;  // bytes
};

// The compute steps of a rank between two collectives.
std::vector<ProbeMaker::Step> compute_steps(ProbeMaker& maker, const Machine& machine) {
  const int64_t side = machine.side;
  std::vector<ProbeMaker::Step> steps{
      product_case(maker, Dtype::kF32, kProductTables[0], side, side, side)};
  if (machine.cores == kDevices) return steps;
  for (const std::string_view key : kBetween)
    for (const MeasuredKernel& kernel : measured_kernels())
      if (kernel.key == key && kernel.dtype == Dtype::kF32)
        steps.push_back(kernel.make(kernel, maker, kExtent));
  return steps;
}

Pair add_entries(ProbeMaker& maker, const Machine& machine, const Exchange& e, int times,
                 size_t spread) {
  const bool shares_cores = machine.cores != kDevices;
  std::vector<ProbeMaker::Step> without = compute_steps(maker, machine);
  if (shares_cores) without.push_back(passed_on(maker, e.in, e.most_bytes, false));
  std::vector<ProbeMaker::Step> with = without;
  with.push_back(collective(maker, e, shares_cores));
  if (shares_cores) {
    with.push_back(passed_on(maker, e.out, 0, true));
    without.push_back(passed_on(maker, e.out, 0, false));
  }
  return {maker.add_entry(repeated(with, times)), maker.add_entry(repeated(without, times)),
          spread};
}

Status measure_among(int64_t ranks, const Machine& machine, std::vector<cost::Measurement>& out) {
  const auto& [backend, cores, side, sizes] = machine;
  const int64_t most_side = std::max(side, kSpreadSide);
  const int64_t other_bytes = std::max(most_side * most_side * 4, kExtent.elements * 4);
  const int64_t first_bytes = std::max(sizes.back(), other_bytes);
  ProbeMaker maker({{"outer", 2}, {"inner", ranks / 2}}, first_bytes, other_bytes);
  const int64_t most_bytes = padded_bytes(maker.program(), first_bytes);
  const auto product =
      product_case(maker, Dtype::kF32, kProductTables[0], kSpreadSide, kSpreadSide, kSpreadSide);
  const size_t spread =
      maker.add_entry(repeated({product}, static_cast<int>(kSpreadProducts / ranks)));
  std::vector<Pair> pairs;  // by kind, then by size
  for (const CollectiveKind kind : kKinds)
    for (const int64_t bytes : sizes)
      pairs.push_back(add_entries(maker, machine, exchange(kind, ranks, bytes, most_bytes),
                                  times_for(bytes), spread));
  SHW_ASSIGN_OR_RETURN(Probe probe, Probe::create(maker, 0, backend));
  for (size_t c = 0; c < std::size(kKinds); ++c) {
    const auto collective = static_cast<cost::Collective>(static_cast<int>(kKinds[c]) - 1);
    cost::Measurement& m = out.emplace_back(cost::Measurement{collective, 1, ranks, {}});
    for (int attempt = 0; attempt < kAttempts && !tells_bandwidth(m); ++attempt) {
      m.samples.clear();
      for (size_t b = 0; b < sizes.size(); ++b) {
        const Pair& pair = pairs[c * sizes.size() + b];
        SHW_ASSIGN_OR_RETURN(const double us, difference_us(probe, pair, ranks, cores));
        m.samples.push_back({sizes[b], std::max(us / times_for(sizes[b]), kLeastUs)});
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<cost::Measurement>> measure_collectives(int64_t cores) {
  const runtime::RankBackend here;
  const std::vector<int64_t> sizes{1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22};
  std::vector<cost::Measurement> all;
  for (const int64_t ranks : kRanks)
    SHW_RETURN_IF_ERROR(measure_among(ranks, {here, cores, kSide, sizes}, all));
  return all;
}

Result<std::vector<cost::Measurement>> measure_collectives(const runtime::RankBackend& backend,
                                                           int64_t devices, int64_t side,
                                                           const std::vector<int64_t>& bytes) {
  std::vector<cost::Measurement> all;
  for (const int64_t ranks : kRanks)
    if (ranks <= devices)
      SHW_RETURN_IF_ERROR(measure_among(ranks, {backend, kDevices, side, bytes}, all));
  return all;
}

}  // namespace shw::measure
