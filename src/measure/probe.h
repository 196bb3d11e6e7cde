// Plans that exist to be timed: entries that run one kernel, or one collective, some times in a
// row, on memory that the executor keeps. They are saved and loaded as every other plan, and run by
// the same executors.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime/virtual_ranks.h"

namespace shw::measure {

// Numbers for kernels to read: any window from the begin of one of these lies within it.
enum class Source : uint8_t { kFirst, kSecond, kThird, kIndices, kFlags };

class ProbeMaker {
 public:
  // Bytes of the first source, and of each of the others.
  ProbeMaker(std::vector<Mesh::Axis> mesh, int64_t first_bytes, int64_t other_bytes);

  ValueId operand(Source source, const TensorType& type);
  // One step of an entry, and the types of its results, which lie one behind the other.
  struct Step {
    ProgramStep step;
    std::vector<TensorType> results;
    int64_t first_byte = 0;   // of the results, in memory that all steps share
    bool reads_last = false;  // the first input is the first result of the step before
  };
  // All sources are read from their begin, and all results written to few places, so that what fits
  // in a cache is there. Returns the number of the entry.
  size_t add_entry(const std::vector<Step>& steps);
  Program& program() { return plan_.program; }
  Result<std::shared_ptr<const Plan>> finish() const;

 private:
  Plan plan_;
  std::vector<StorageId> sources_;
};

// A job of such a plan.
class Probe {
 public:
  static Result<Probe> create(const ProbeMaker& maker, int64_t index_bound,
                              const runtime::RankBackend& backend = {});

  // µs of each step of the entry, until the next one begins: the lower quartile of several runs,
  // since whatever else a machine does only makes a run longer.
  Result<std::vector<double>> step_us(size_t entry);
  // µs of one run of the entry: from the begin of its first step to the end of its last on rank 0,
  // and CPU time of all ranks together.
  struct RunTime {
    double wall_us = 0, cpu_us = 0;
  };
  Result<RunTime> run_time(size_t entry);

 private:
  Status fill(int64_t rank, int64_t index_bound);
  Result<std::vector<double>> run(size_t entry);  // µs of each step
  std::unique_ptr<runtime::VirtualRanks> ranks_;
};

}  // namespace shw::measure
