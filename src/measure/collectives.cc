#include "measure/collectives.h"

#include <algorithm>
#include <cstdint>

#include "measure/kernel_cases.h"
#include "runtime/bench/bench.h"

// Where the ranks keep all cores busy, a collective takes its CPU time, shared by the cores; that
// is the same on a machine that does other work as well. Where cores are idle, it takes until it
// ends.
//
// Between two collectives each rank computes for a while. Ranks that do nothing but communicate
// stay on one core and wake each other for less than ranks that come from their own work.
namespace shw::measure {
namespace {

constexpr int64_t kRanks[] = {2, 4, 8};
constexpr int64_t kOtherBytes = 1 << 18;  // of what is multiplied
constexpr int64_t kManyBytes = 1 << 15;   // of a collective that need not be repeated so often
constexpr int kFewTimes = 8, kManyTimes = 32, kAttempts = 5, kPairs = 7;
constexpr double kLeastUs = 0.1;  // where a collective takes no longer than the noise

constexpr int64_t kSide = 96;  // of a product that takes some ten microseconds

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllReduce, CollectiveKind::kAllToAll,
                                     CollectiveKind::kPermute};

// `bytes` as prices count them: of an all-gather its result, of all others the operand.
ProbeMaker::Step collective_step(ProbeMaker& maker, CollectiveKind kind, int64_t ranks,
                                 int64_t bytes) {
  const int64_t count = bytes / 4, share = count / ranks;
  const TensorType whole = row_major(Dtype::kF32, {count}), part = row_major(Dtype::kF32, {share}),
                   parts = row_major(Dtype::kF32, {ranks, share});
  TensorType in = whole, out = whole;
  if (kind == CollectiveKind::kAllGather) in = part, out = parts;
  if (kind == CollectiveKind::kReduceScatter) in = parts, out = part;
  if (kind == CollectiveKind::kAllToAll) in = out = parts;
  ProgramStep step;
  step.kernel = "collective";
  step.inputs = {maker.operand(Source::kFirst, in)};
  step.collective = {kind, ReduceOp::kSum, {0, 1}};
  if (kind == CollectiveKind::kPermute) step.collective.to_axes = {1, 0};
  return {std::move(step), {out}};
}

int times_for(int64_t bytes) { return bytes < kManyBytes ? kManyTimes : kFewTimes; }

std::vector<ProbeMaker::Step> repeated(const std::vector<ProbeMaker::Step>& steps, int times) {
  std::vector<ProbeMaker::Step> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), steps.begin(), steps.end());
  return all;
}

// Other work on the machine may take as long as the collective.
bool tells_bandwidth(const cost::Measurement& m) {
  return !m.samples.empty() && m.samples.back().us > 2 * m.samples.front().us;
}

// How much longer a run takes with collectives: the median of several pairs of runs, one behind the
// other, so that what the machine does beside slows both.
Result<double> difference_us(Probe& probe, size_t with, size_t without, int64_t ranks,
                             int64_t cores) {
  const auto us_of = [&](size_t entry) -> Result<double> {
    SHW_ASSIGN_OR_RETURN(const Probe::RunTime time, probe.run_time(entry));
    return ranks < cores ? time.wall_us : time.cpu_us / static_cast<double>(cores);
  };
  std::vector<double> differences;
  SHW_RETURN_IF_ERROR(us_of(with).status());  // touches the memory
  for (int i = 0; i < kPairs; ++i) {
    SHW_ASSIGN_OR_RETURN(const double more, us_of(with));
    SHW_ASSIGN_OR_RETURN(const double less, us_of(without));
    differences.push_back(more - less);
  }
  return runtime::quartiles_of(std::move(differences)).median;
}

// Entries with nothing but compute, and with a collective of each kind and size behind it.
struct Entries {
  size_t few, many;
  std::vector<size_t> collectives;  // by kind, then by size
};

Entries add_entries(ProbeMaker& maker, int64_t ranks, int64_t side,
                    const std::vector<int64_t>& sizes) {
  const ProbeMaker::Step compute = product_case(maker, Dtype::kF32, side, side, side);
  Entries entries{maker.add_entry(repeated({compute}, kFewTimes)),
                  maker.add_entry(repeated({compute}, kManyTimes)),
                  {}};
  for (const CollectiveKind kind : kKinds)
    for (const int64_t bytes : sizes)
      entries.collectives.push_back(maker.add_entry(
          repeated({compute, collective_step(maker, kind, ranks, bytes)}, times_for(bytes))));
  return entries;
}

// What ranks run on: devices of their own, where `cores` is kDevices.
struct Machine {
  const runtime::RankBackend& backend;
  int64_t cores;
  int64_t side;                       // of the product between two collectives
  const std::vector<int64_t>& sizes;  // bytes
};
constexpr int64_t kDevices = INT64_MAX;

Status measure_among(int64_t ranks, const Machine& machine, std::vector<cost::Measurement>& out) {
  const auto& [backend, cores, side, sizes] = machine;
  const int64_t other_bytes = std::max(kOtherBytes, side * side * 4);
  ProbeMaker maker({{"outer", 2}, {"inner", ranks / 2}}, std::max(sizes.back(), other_bytes),
                   other_bytes);
  const Entries entries = add_entries(maker, ranks, side, sizes);
  SHW_ASSIGN_OR_RETURN(Probe probe, Probe::create(maker, 0, backend));
  for (size_t c = 0; c < std::size(kKinds); ++c) {
    const auto collective = static_cast<cost::Collective>(static_cast<int>(kKinds[c]) - 1);
    cost::Measurement& m = out.emplace_back(cost::Measurement{collective, 1, ranks, {}});
    for (int attempt = 0; attempt < kAttempts && !tells_bandwidth(m); ++attempt) {
      m.samples.clear();
      for (size_t b = 0; b < sizes.size(); ++b) {
        const int times = times_for(sizes[b]);
        SHW_ASSIGN_OR_RETURN(
            const double us,
            difference_us(probe, entries.collectives[c * sizes.size() + b],
                          times == kManyTimes ? entries.many : entries.few, ranks, cores));
        m.samples.push_back({sizes[b], std::max(us / times, kLeastUs)});
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
