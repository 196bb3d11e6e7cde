#include "runtime/bench/bench.h"

#include <algorithm>
#include <limits>
#include <map>

#include "runtime/bench/job.h"
#include "runtime/bench/rate.h"
#include "runtime/bench/work.h"

namespace shw::runtime {
namespace {

// In seconds. The matrix products between two runs remove the data of a shorter run from the
// caches. So such a run is timed directly after another run, as in practice.
constexpr double kShortSeconds = 10e-3;

// The measurements of one run.
struct Sample {
  Job::RunTime time;
  RateMeter::Rates rates;                         // of products, directly after the run
  std::vector<std::vector<LaunchTime>> launches;  // by rank
};

Result<Sample> sample_of(Job& job, RateMeter& meter) {
  Sample sample;
  SHW_ASSIGN_OR_RETURN(sample.time, job.run_timed());
  for (int64_t r = 0; r < job.ranks().num_ranks(); ++r) {
    SHW_ASSIGN_OR_RETURN(sample.launches.emplace_back(), job.launch_times(r));
  }
  SHW_ASSIGN_OR_RETURN(sample.rates, meter.best());
  return sample;
}

template <class F>
Quartiles over(std::span<const Sample> samples, F&& value) {
  std::vector<double> values;
  for (const Sample& s : samples) values.push_back(value(s));
  return quartiles_of(std::move(values));
}

// The name of a step's kernel; for a group, the names of its steps' kernels.
std::string name_of(const Program& program, const StepLaunch& launch) {
  std::string name = kernel_text(program, program.steps[launch.steps[0]]);
  for (size_t i = 1; i < launch.steps.size(); ++i)
    name += " " + program.steps[launch.steps[i]].kernel;
  return name;
}

double planned_seconds(const Program& program, const StepLaunch& launch) {
  double us = 0;
  for (const uint32_t s : launch.steps) us += program.steps[s].cost_us;
  return us * 1e-6;
}

// Adds the work of one launch. Tensors that are used only within the group do not count as bytes.
void add_work(const Program& program, const StepLaunch& launch, BenchOp& op) {
  ++op.launches;
  op.steps += static_cast<int64_t>(launch.steps.size());
  op.planned_seconds += planned_seconds(program, launch);
  for (const uint32_t s : launch.steps) {
    const StepWork work = work_of(program, program.steps[s]);
    op.flops += work.flops;
    op.product = op.product || work.is_product;
  }
  std::vector<ValueId> seen;
  for (const ValueId v : launch.operands)
    if (v.valid() && std::ranges::find(seen, v) == seen.end()) {
      seen.push_back(v);
      op.bytes += window_bytes(program.values[v].type);
    }
}

std::string stream_name(const Program& program, StreamNumber number) {
  const ProgramStream& stream = program.streams[number];
  switch (stream.kind) {
    case StreamKind::kCompute:
      return "compute";
    case StreamKind::kToHost:
      return "to host memory";
    case StreamKind::kFromHost:
      return "from host memory";
    case StreamKind::kCommunication:
      break;
  }
  std::string name;
  for (const uint8_t axis : stream.axes)
    name += (name.empty() ? "" : "+") + axis_of(program, axis).name;
  return name.empty() ? "collectives" : name;
}

std::vector<BenchLaunch> timeline_of(const Program& program,
                                     const std::vector<LaunchTime>& launches) {
  std::vector<BenchLaunch> timeline;
  for (const LaunchTime& t : launches) {
    const ProgramStep& step = program.steps[t.launch->steps[0]];
    timeline.push_back({name_of(program, *t.launch), stream_name(program, step.stream),
                        t.launch->steps[0], step.node == UINT32_MAX ? -1 : int64_t{step.node},
                        t.begin_s, t.end_s, planned_seconds(program, *t.launch)});
  }
  return timeline;
}

BenchRank rank_of(const Job& job, size_t rank, std::span<const Sample> samples) {
  BenchRank result;
  const Program& program = job.program();
  const std::vector<LaunchTime>& launches = samples[0].launches[rank];
  result.timeline = timeline_of(program, samples.back().launches[rank]);
  std::map<std::string, std::vector<size_t>> by_name;
  for (size_t i = 0; i < launches.size(); ++i)
    by_name[name_of(program, *launches[i].launch)].push_back(i);
  for (const auto& item : by_name) {
    const std::vector<size_t>& numbers = item.second;
    BenchOp op;
    op.kernel = item.first;
    for (const size_t i : numbers) add_work(program, *launches[i].launch, op);
    if (op.product) result.flops += op.flops;
    op.seconds = over(samples, [&](const Sample& s) {
                   double sum = 0;
                   for (const size_t i : numbers)
                     sum += s.launches[rank][i].end_s - s.launches[rank][i].begin_s;
                   return sum;
                 }).median;
    result.ops.push_back(std::move(op));
  }
  std::ranges::sort(result.ops, std::greater(), &BenchOp::seconds);
  const auto span_of = [&](const Sample& s) {
    double begin = std::numeric_limits<double>::infinity(), end = -begin;
    for (const LaunchTime& t : s.launches[rank]) {
      begin = std::min(begin, t.begin_s);
      end = std::max(end, t.end_s);
    }
    return s.launches[rank].empty() ? 0 : end - begin;
  };
  result.seconds = over(samples, span_of).median;
  if (result.flops > 0)
    result.over_floor = over(samples, [&](const Sample& s) {
      return s.rates.wall > 0 ? s.time.seconds / (result.flops / s.rates.wall) : 0;
    });
  return result;
}

}  // namespace

Quartiles quartiles_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

Result<BenchResult> bench(std::shared_ptr<const Plan> plan, const BenchOptions& options) {
  if (options.repeats < 1 || options.warm_up < 0)
    return invalid_argument("a benchmark needs one run or more, and no fewer than 0 to warm up");
  const std::string hardware = plan->summary.hardware;
  SHW_ASSIGN_OR_RETURN(const std::unique_ptr<Job> created, Job::create(std::move(plan), options));
  Job& job = *created;
  std::vector<Product> products;
  for (size_t i = 0; i < job.entry().num_steps; ++i) {
    const StepWork work = work_of(job.program(), job.program().steps[job.entry().first_step + i]);
    products.insert(products.end(), work.products.begin(), work.products.end());
  }
  const Device& device = job.ranks().device(0);
  BenchResult result;
  result.hardware = hardware;
  result.entry = job.entry().name;
  result.device = device.device_class().name;
  result.model = device.model();
  result.warm_up = options.warm_up;
  result.repeats = options.repeats;
  result.whole = options.whole || options.graphs;
  result.graphs = options.graphs;
  result.computes = device.can().computes;
  if (!result.computes || result.whole) products.clear();
  SHW_ASSIGN_OR_RETURN(RateMeter meter, RateMeter::create(job.ranks().devices(), job.ranks().mesh(),
                                                          std::move(products)));
  for (int64_t i = 0; i < options.warm_up; ++i) SHW_RETURN_IF_ERROR(job.run());
  std::vector<Sample> samples;
  for (int64_t i = 0; i < options.repeats; ++i) {
    if (i > 0 && samples.back().time.seconds < kShortSeconds) SHW_RETURN_IF_ERROR(job.run());
    SHW_ASSIGN_OR_RETURN(samples.emplace_back(), sample_of(job, meter));
  }
  result.seconds = over(samples, [](const Sample& s) { return s.time.seconds; });
  result.cpu_seconds = over(samples, [](const Sample& s) { return s.time.cpu_seconds; }).median;
  result.flops_per_second = over(samples, [](const Sample& s) { return s.rates.wall; }).median;
  for (size_t r = 0; r < job.ranks().devices().size(); ++r) {
    result.ranks.push_back(rank_of(job, r, samples));
    if (result.flops_per_second > 0)
      result.floor_seconds =
          std::max(result.floor_seconds, result.ranks.back().flops / result.flops_per_second);
  }
  double flops = 0;
  for (const BenchRank& rank : result.ranks) flops += rank.flops;
  if (flops > 0 && device.can().host_access) {
    result.cpu_over_floor =
        over(samples, [&](const Sample& s) { return s.time.cpu_seconds * s.rates.cpu / flops; });
    result.cpu_over_vector_floor = over(
        samples, [&](const Sample& s) { return s.time.cpu_seconds * s.rates.vector_cpu / flops; });
    result.vector_flops_per_second =
        over(samples, [](const Sample& s) { return s.rates.vector_cpu; }).median;
  }
  return result;
}

}  // namespace shw::runtime
