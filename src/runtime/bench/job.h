// A plan whose ranks run in this process with filled inputs, to be timed.
#pragma once
#include <memory>

#include "runtime/bench/bench.h"

namespace shw::runtime {

class Job {
 public:
  static Result<std::unique_ptr<Job>> create(std::shared_ptr<const Plan> plan,
                                             const BenchOptions& options);
  ~Job();

  const Program& program() const { return ranks_->program(); }
  const ProgramEntry& entry() const { return *entry_; }
  VirtualRanks& ranks() { return *ranks_; }

  // Runs the entry with inputs and outputs that are already in place, and does nothing else.
  Status run() { return ranks_->run_pieces(*entry_, in_, out_); }
  // The duration of a run, and the CPU time of this process during it (all ranks).
  struct RunTime {
    double seconds = 0, cpu_seconds = 0;
  };
  Result<RunTime> run_timed();
  // The launch times of the latest run; empty if launches are not timed.
  Result<std::vector<LaunchTime>> launch_times(int64_t rank);

 private:
  Job() = default;
  Status fill(int64_t rank);
  Status write(Device& device, PortId id, const Buffer& buffer);

  std::unique_ptr<VirtualRanks> ranks_;
  const ProgramEntry* entry_ = nullptr;
  VirtualRanks::RankBuffers in_, out_;
  bool time_launches_ = true;
};

}  // namespace shw::runtime
