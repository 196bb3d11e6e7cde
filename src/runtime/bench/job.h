// A plan whose ranks run in this process, with numbers in its inputs: what is timed.
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

  // Does nothing but run the entry: its inputs and outputs are in place.
  Status run() { return ranks_->run_pieces(*entry_, in_, out_); }
  // How long a run takes, and the CPU time of this process meanwhile, all ranks together.
  struct RunTime {
    double seconds = 0, cpu_seconds = 0;
  };
  Result<RunTime> run_timed();
  // Of the latest run: none, if launches are not timed.
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
