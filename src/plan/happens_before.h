// Which steps of a program are known to be over when a step begins: what streams and events
// promise.
//
// Steps of one stream run one after another. A step that waits for an event begins after the step
// that records it, and so after everything which that one knew to be over. When an entry point
// begins, everything before it is over. (Vector clocks, with one counter for each stream.)
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace shw {

class HappensBefore {
 public:
  // Streams and events must be in range, and an event recorded before it is waited for: verify()
  // holds that.
  explicit HappensBefore(const Program& program);

  // Step `first` is over before step `second` begins; both are indices into Program::steps.
  bool before(uint32_t first, uint32_t second) const {
    const Clock& c = clock_[second];
    return ordinal_[first] < c.over[stream_[first]];
  }
  // The smallest index from which on every step, whatever its stream, begins after `step` is over.
  // At most the number of steps.
  uint32_t first_index_after(uint32_t step) const;

 private:
  struct Clock {
    std::array<uint32_t, kNumStreams> over{};  // so many steps of that stream are over
  };
  std::vector<Clock> clock_;
  std::vector<uint32_t> ordinal_;  // of a step on its stream
  std::vector<uint8_t> stream_;
  std::array<std::vector<uint32_t>, kNumStreams> steps_of_;  // indices of its steps, ascending
};

}  // namespace shw
