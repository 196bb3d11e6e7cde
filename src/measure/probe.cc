#include "measure/probe.h"

#include <algorithm>
#include <ctime>
#include <numeric>

#include "runtime/bench/bench.h"
#include "runtime/bench/fill.h"

namespace shw::measure {
namespace {

constexpr std::string_view kSourceNames[] = {"first", "second", "third", "indices", "flags"};
constexpr Dtype kSourceTypes[] = {Dtype::kF32, Dtype::kF32, Dtype::kF32, Dtype::kI64, Dtype::kBool};

constexpr double kClockUs = 1e-3;  // resolution of the clock
constexpr int kLeastRuns = 7, kMostRuns = 201;
constexpr double kEnoughUs = 120000;  // of all runs of an entry together

// The dtype in which an operand's numbers are stored. The bits of one floating-point type, read as
// another, would be infinities and numbers that no model has, some of which take a processor much
// longer.
Dtype stored_type(Source source, Dtype dtype) {
  const Dtype own = kSourceTypes[static_cast<size_t>(source)];
  return own == Dtype::kF32 && is_floating(dtype) ? dtype : own;
}

// The bytes from the first element to the last, including gaps.
int64_t extent_bytes(const TensorType& type) {
  int64_t last = 0;
  for (size_t d = 0; d < type.shape.size(); ++d) last += (type.shape[d] - 1) * type.strides[d];
  return (last + 1) * dtype_size(type.dtype);
}

}  // namespace

ProbeMaker::ProbeMaker(std::vector<Mesh::Axis> mesh, int64_t first_bytes, int64_t other_bytes)
    : first_bytes_(first_bytes), other_bytes_(other_bytes) {
  program().mesh = std::move(mesh);
}

int64_t ProbeMaker::next_place(int64_t bytes, int64_t& used) const {
  const int64_t room = std::min(turns_.places * bytes, turns_.most_bytes);
  if (used + bytes > room) used = 0;
  const int64_t place = used;
  if (room >= 2 * bytes) used += bytes;
  return place;
}

ProbeMaker::Memory& ProbeMaker::memory_of(Source source, Dtype dtype) {
  for (Memory& known : memories_)
    if (known.source == source && known.dtype == dtype) return known;
  Program& p = program();
  const int64_t bytes = source == Source::kFirst ? first_bytes_ : other_bytes_;
  const TensorType type = row_major(dtype, {bytes / dtype_size(dtype)});
  const auto port = static_cast<uint32_t>(p.ports.size());
  const StorageId storage = p.storages.push_back({bytes, StorageKind::kState, port, -1});
  const std::string name =
      std::string(kSourceNames[static_cast<size_t>(source)]) + "." + std::string(dtype_name(dtype));
  p.ports.push_back(
      {name, PortRole::kBuffer, type, Layout{}, p.values.push_back({type, storage, 0})});
  return memories_.emplace_back(Memory{source, dtype, storage});
}

ValueId ProbeMaker::operand(Source source, const TensorType& type) {
  Memory& memory = memory_of(source, stored_type(source, type.dtype));
  const int64_t place = source == Source::kFirst
                            ? 0
                            : next_place(padded_bytes(program(), extent_bytes(type)), memory.used);
  return program().values.push_back({type, memory.storage, place});
}

size_t ProbeMaker::add_entry(const std::vector<Step>& steps) {
  Program& p = program();
  ProgramEntry& entry = p.entries.emplace_back();
  entry.name = std::to_string(p.entries.size() - 1);
  entry.first_step = static_cast<uint32_t>(p.steps.size());
  entry.num_steps = static_cast<uint32_t>(steps.size());
  for (const Step& step : steps) {
    ProgramStep& s = p.steps.emplace_back(step.step);
    if (step.reads_last) s.inputs[0] = p.steps[p.steps.size() - 2].outputs[0];
    int64_t bytes = 0;
    for (const TensorType& type : step.results) bytes += padded_bytes(p, type.bytes());
    int64_t offset = step.first_byte + next_place(bytes, results_used_);
    for (const TensorType& type : step.results) {
      const StorageId storage =
          p.storages.push_back({type.bytes(), StorageKind::kArena, UINT32_MAX, offset});
      s.outputs.push_back(p.values.push_back({type, storage, 0}));
      offset += padded_bytes(p, type.bytes());
    }
    p.arena_bytes = p.live_peak_bytes = std::max(p.arena_bytes, offset);
  }
  return p.entries.size() - 1;
}

Result<std::shared_ptr<const Plan>> ProbeMaker::finish() const {
  SHW_ASSIGN_OR_RETURN(Plan plan, read_plan(write_plan(plan_)));
  return std::make_shared<const Plan>(std::move(plan));
}

Result<Probe> Probe::create(const ProbeMaker& maker, int64_t index_bound,
                            const runtime::RankBackend& backend) {
  Probe probe;
  SHW_ASSIGN_OR_RETURN(const auto plan, maker.finish());
  runtime::ExecutorOptions options;
  options.time_steps = true;
  SHW_ASSIGN_OR_RETURN(probe.ranks_, runtime::VirtualRanks::create(plan, options, backend));
  for (int64_t r = 0; r < probe.ranks_->num_ranks(); ++r)
    SHW_RETURN_IF_ERROR(probe.fill(r, index_bound));
  return probe;
}

Status Probe::fill(int64_t rank, int64_t index_bound) {
  const Program& p = ranks_->program();
  for (uint32_t i = 0; i < p.ports.size(); ++i) {
    const runtime::BufferRef state = ranks_->executor(rank).state(PortId{i});
    SHW_RETURN_IF_ERROR(runtime::fill_with_numbers(
        ranks_->device(rank), *state, p.ports[PortId{i}].global.dtype, index_bound, i));
  }
  return {};
}

Result<std::vector<double>> Probe::run(size_t number) {
  const ProgramEntry& entry = ranks_->program().entries[number];
  runtime::VirtualRanks::RankBuffers nothing(static_cast<size_t>(ranks_->num_ranks()));
  SHW_RETURN_IF_ERROR(ranks_->run_pieces(entry, nothing, nothing));
  SHW_ASSIGN_OR_RETURN(const auto launches, ranks_->executor(0).launch_times(entry));
  std::vector<double> us;
  for (size_t i = 0; i < launches.size(); ++i) {
    const double end = i + 1 < launches.size() ? launches[i + 1].begin_s : launches[i].end_s;
    us.push_back((end - launches[i].begin_s) * 1e6);
  }
  return us;
}

Result<std::vector<double>> Probe::step_us(size_t entry) {
  SHW_ASSIGN_OR_RETURN(std::vector<double> us, run(entry));
  std::vector<std::vector<double>> by_step(us.size());
  double spent = 0;
  for (int i = 0; i < kMostRuns && (i < kLeastRuns || spent < kEnoughUs); ++i) {
    SHW_ASSIGN_OR_RETURN(us, run(entry));
    for (size_t s = 0; s < us.size(); ++s) by_step[s].push_back(us[s]), spent += us[s];
  }
  for (size_t s = 0; s < us.size(); ++s)
    us[s] = std::max(runtime::quartiles_of(std::move(by_step[s])).low, kClockUs);
  return us;
}

Result<Probe::RunTime> Probe::run_time(size_t entry) {
  const std::clock_t begin = std::clock();
  SHW_ASSIGN_OR_RETURN(const std::vector<double> us, run(entry));
  return RunTime{std::accumulate(us.begin(), us.end(), 0.0),
                 static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC * 1e6};
}

}  // namespace shw::measure
