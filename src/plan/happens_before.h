// Determines which steps of a program are known to be over when a step begins, from streams and
// events.
//
// Steps of one stream run one after another. A step that waits for an event begins after the step
// that records it, and so after all steps known to be over when that one began. When an entry point
// begins, everything before it is over. (Vector clocks, with one counter for each stream.)
#pragma once
#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace shw {

class HappensBefore {
 public:
  // Streams and events must be in range, and each event recorded before it is waited for; verify()
  // checks this. Takes memory proportional to steps × streams.
  explicit HappensBefore(const Program& program);

  // Whether step `first` is known to be over when step `second` begins; both are indices into
  // Program::steps.
  bool before(uint32_t first, uint32_t second) const {
    return ordinal_[first] < over_[second * num_streams_ + stream_[first]];
  }
  // By step: the smallest index such that all steps from it on, of all streams, begin after the
  // step is over; the number of steps if there is none.
  std::vector<uint32_t> first_indices_after() const;

 private:
  const size_t num_streams_;
  std::vector<uint32_t> over_;  // [step][stream]: number of steps of that stream known to be over
  std::vector<uint32_t> ordinal_;  // of a step on its stream
  std::vector<StreamNumber> stream_;
  std::vector<std::vector<uint32_t>> steps_of_;  // by stream: indices of its steps, ascending
};

}  // namespace shw
