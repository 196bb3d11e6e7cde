#include "runtime/bench/job.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "runtime/bench/fill.h"
#include "runtime/entry.h"
#include "runtime/program_layout.h"

namespace shw::runtime {
namespace {

// A bound for the integers of a port. They are usually indices, so the bound is the size of the
// table that they index.
int64_t index_bound(const Program& program, const Port& port) {
  int64_t bound = std::numeric_limits<int64_t>::max();
  const StorageId storage = program.values[port.value].storage;
  const auto reads = [&](const ProgramStep& step, size_t input) {
    return input < step.inputs.size() && step.inputs[input].valid() &&
           program.values[step.inputs[input]].storage == storage;
  };
  const auto limit = [&](const ProgramStep& step, size_t table, size_t dim_from_end) {
    const auto& size = step.attrs.get_ints(AttrKey::kSize);
    const Dims& shape = program.values[step.inputs[table]].type.shape;
    if (!size.empty())
      bound = std::min(bound, size[0]);
    else if (!shape.empty())
      bound = std::min(bound, dim_from_end == 0 ? shape[0] : shape.back());
  };
  for (const ProgramStep& step : program.steps) {
    const std::string& k = step.kernel;
    if ((k == "embedding" || k == "index" || k == "index_select" || k == "index_put") &&
        reads(step, 1))
      limit(step, 0, 0);
    else if ((k == "gather" || k == "nll_loss_forward") && reads(step, 1))
      limit(step, 0, 1);
    else if (k == "embedding_dense_backward" && reads(step, 1))
      bound = std::min(bound, step.attrs.get_int(AttrKey::kNumWeights, 1));
  }
  return bound == std::numeric_limits<int64_t>::max() ? 0 : bound;
}

}  // namespace

Job::~Job() = default;

Result<std::unique_ptr<Job>> Job::create(std::shared_ptr<const Plan> plan,
                                         const BenchOptions& options) {
  std::unique_ptr<Job> job(new Job);
  ExecutorOptions executor = options.executor;
  executor.graphs = options.graphs;
  executor.time_steps = job->time_launches_ = !options.whole && !options.graphs;
  SHW_ASSIGN_OR_RETURN(job->ranks_,
                       VirtualRanks::create(std::move(plan), executor, options.backend));
  SHW_ASSIGN_OR_RETURN(
      job->entry_,
      find_entry(job->program(),
                 options.entry.empty() ? job->program().entries.at(0).name : options.entry));
  job->in_.resize(static_cast<size_t>(job->ranks_->num_ranks()));
  job->out_.resize(job->in_.size());
  for (int64_t r = 0; r < job->ranks_->num_ranks(); ++r) SHW_RETURN_IF_ERROR(job->fill(r));
  return job;
}

Result<Job::RunTime> Job::run_timed() {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  SHW_RETURN_IF_ERROR(run());
  const double cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return RunTime{took.count(), cpu_seconds};
}

Result<std::vector<LaunchTime>> Job::launch_times(int64_t rank) {
  if (!time_launches_) return std::vector<LaunchTime>{};
  return ranks_->executor(rank).launch_times(*entry_);
}

// Outputs stay null: the first run allocates them, and later ones write into the same memory.
Status Job::fill(int64_t rank) {
  const auto r = static_cast<size_t>(rank);
  const std::shared_ptr<Device>& device = ranks_->devices()[r];
  out_[r].resize(entry_->outputs.size());
  for (const PortId id : entry_->inputs) {
    const Port& port = program().ports[id];
    BufferRef& buffer = in_[r].emplace_back();
    if (!port.value.valid()) continue;
    SHW_ASSIGN_OR_RETURN(buffer, Buffer::allocate(device, {port_bytes(program(), port),
                                                           arena_alignment(program())}));
    SHW_RETURN_IF_ERROR(write(*device, id, *buffer));
  }
  for (uint32_t i = 0; i < program().ports.size(); ++i)
    if (const PortId id{i}; is_input(program().ports[id].role))
      if (const BufferRef state = ranks_->executor(rank).state(id); state != nullptr)
        SHW_RETURN_IF_ERROR(write(*device, id, *state));
  return {};
}

Status Job::write(Device& device, PortId id, const Buffer& buffer) {
  const Port& port = program().ports[id];
  return fill_with_numbers(device, buffer, port.global.dtype, index_bound(program(), port), id.v);
}

}  // namespace shw::runtime
