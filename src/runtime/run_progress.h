// Finds which work was running on an executor's streams, by their counts (hal.h). Needed for errors
// that are reported late and only say that the device is lost.
//
// A stream counts after each launch and after each graph. So the last place that a stream reached
// is known. The candidates for the failed launch are the launches up to the stream's next place, if
// the work of other streams that they wait for had finished.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/entry_graphs.h"

namespace shw::runtime {

class RunProgress final : public Fault::Witness {
 public:
  // The arguments must outlive this object, except `segments`, which has one element per entry or
  // is empty.
  RunProgress(const Program& program, const StepKernels& kernels,
              const std::vector<EntryCommands>& entries, const std::vector<GraphSegments>& segments,
              const RunStreams& on, size_t runs_in_flight);

  // Call before the first command of a run is enqueued, on the thread that enqueues.
  void begin(uint64_t run, size_t entry);
  // Appends, for example, "; it was in step 3 of entry 'step': mm of node 12". The node is named if
  // there is only one.
  void add_to(Status& error) const noexcept override;

 private:
  // The launches of a stream up to its next count, and the units of other streams that must end
  // before.
  struct Unit {
    struct Place {
      size_t stream, unit;
    };
    std::vector<uint32_t> launches = {};
    std::vector<Place> after = {};
  };
  struct Run {
    uint64_t number = 0;  // 0: none
    size_t entry = 0;
    std::vector<uint64_t> first;  // by stream: its count at the start of the run
  };
  using Units = std::vector<std::vector<Unit>>;  // by stream

  Units units_of(const EntryCommands& entry, const GraphSegments* segments) const;
  bool may_have_begun(const Run& run, const Unit& unit, const std::vector<uint64_t>& reached) const;
  std::vector<uint32_t> steps_of(const Unit& unit) const;
  std::string text_of(const Run& run, const std::vector<uint32_t>& steps) const;
  void add(Status& error) const;

  const Program& program_;
  const StepKernels& kernels_;
  const RunStreams& on_;
  std::vector<Units> entries_;
  mutable std::mutex mutex_;  // guards runs_
  std::vector<Run> runs_;     // runs in flight, by number modulo the vector's size
};

}  // namespace shw::runtime
