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

  // As in a model, where the first operand is what the step before has made, and many tensors were
  // touched since the others were, and since somebody used the memory of the results: from here on
  // those of a size take turns in so many places, as far as `most_bytes` hold them. Without this
  // all operands lie at the begin of their source.
  void take_turns(int64_t places, int64_t most_bytes) { turns_ = {places, most_bytes}; }
  ValueId operand(Source source, const TensorType& type);
  // One step of an entry, and the types of its results, which lie one behind the other.
  struct Step {
    ProgramStep step;
    std::vector<TensorType> results;
    int64_t first_byte = 0;   // of the results, in memory that all steps share
    bool reads_last = false;  // the first input is the first result of the step before
  };
  // Unless they take turns, results are written to few places, so that what fits in a cache is
  // there. Returns the number of the entry.
  size_t add_entry(const std::vector<Step>& steps);
  Program& program() { return plan_.program; }
  const Program& program() const { return plan_.program; }
  Result<std::shared_ptr<const Plan>> finish() const;

 private:
  // Where the next of several windows of `bytes` in one memory begins.
  int64_t next_place(int64_t bytes, int64_t& used) const;

  struct Turns {
    int64_t places = 1, most_bytes = 0;
  };
  Plan plan_;
  // Numbers of one source in one type, by windows that took turns.
  struct Memory {
    Source source;
    Dtype dtype;
    StorageId storage;
    int64_t used = 0;
  };
  Memory& memory_of(Source source, Dtype dtype);

  std::vector<Memory> memories_;
  const int64_t first_bytes_, other_bytes_;
  Turns turns_;
  int64_t results_used_ = 0;
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
