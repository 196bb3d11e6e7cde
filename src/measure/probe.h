// Makes plans for measurements: entries that run one kernel, or one collective, several times in
// succession, on memory that the executor keeps. They are saved, loaded and run like all other
// plans.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime/virtual_ranks.h"

namespace shw::measure {

// Memory with numbers for kernels to read. It is large enough for every operand that begins at its
// start.
enum class Source : uint8_t { kFirst, kSecond, kThird, kIndices, kFlags };

class ProbeMaker {
 public:
  // Bytes of the first source, and of each of the others.
  ProbeMaker(std::vector<Mesh::Axis> mesh, int64_t first_bytes, int64_t other_bytes);

  // Reproduces the cache behaviour of a model, where the first operand is the result of the step
  // before, and many tensors were touched since the other operands and the memory of the results
  // were last used. From this call on, results, and operands of other sources than kFirst, rotate
  // through `places` places for each size, as far as `most_bytes` allow. Without this call all
  // operands begin at the start of their source.
  void take_turns(int64_t places, int64_t most_bytes) { turns_ = {places, most_bytes}; }
  ValueId operand(Source source, const TensorType& type);
  // One step of an entry, and the types of its results, which are adjacent in memory.
  struct Step {
    ProgramStep step;
    std::vector<TensorType> results;
    int64_t first_byte = 0;   // of the results, in memory that all steps share
    bool reads_last = false;  // the first input is the first result of the step before
  };
  // Without take_turns(), results are written to few places, so they stay in a cache that is large
  // enough. Returns the number of the entry.
  size_t add_entry(const std::vector<Step>& steps);
  Program& program() { return plan_.program; }
  const Program& program() const { return plan_.program; }
  Result<std::shared_ptr<const Plan>> finish() const;

 private:
  // The offset of the next of several windows of `bytes` in one memory.
  int64_t next_place(int64_t bytes, int64_t& used) const;

  struct Turns {
    int64_t places = 1, most_bytes = 0;
  };
  Plan plan_;
  // The numbers of one source in one type.
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

// Runs such a plan.
class Probe {
 public:
  static Result<Probe> create(const ProbeMaker& maker, int64_t index_bound,
                              const runtime::RankBackend& backend = {});

  // µs from the begin of each step of the entry to the begin of the next: the lower quartile of
  // several runs, since other activity of the machine only makes a run longer.
  Result<std::vector<double>> step_us(size_t entry);
  // µs of one run of the entry: the time on rank 0 from the begin of its first step to the end of
  // its last, and the CPU time of all ranks together.
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
