// What the streams of an executor are doing, by their counts (hal.h): for errors that come to light
// late, and say of themselves only that the device is lost.
//
// A stream counts behind each launch, and behind each graph. So it is known between which two
// places a stream stands, and the launches between them, whose operands other streams have made
// already, are those that may have failed.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/entry_graphs.h"

namespace shw::runtime {

class RunProgress final : public Fault::Witness {
 public:
  // All of it outlives the progress, but for `segments`; those are by entry, or none.
  RunProgress(const Program& program, const StepKernels& kernels,
              const std::vector<EntryCommands>& entries, const std::vector<GraphSegments>& segments,
              const RunStreams& on, size_t runs_in_flight);

  // Before the first command of a run is put on the streams. The thread that enqueues.
  void begin(uint64_t run, size_t entry);
  // "; it was in step 3 of entry 'step': mm of node 12", with the node where there is but one.
  void add_to(Status& error) const noexcept override;

 private:
  // What a stream does up to its next count, and the places that must have been reached before.
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
    std::vector<uint64_t> first;  // by stream: its count before the run
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
  std::vector<Run> runs_;     // in flight, by number modulo their size
};

}  // namespace shw::runtime
