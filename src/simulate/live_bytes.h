// The memory that is live at each step when a program runs its steps in order: passes, reports and
// the trace share this definition. Storages are counted, not values, so views and results that
// overwrite an operand cost nothing. Bytes are the storages' own, without padding.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/program.h"

namespace shw {

// The first and last step that touch a storage; first > last if no step does.
struct Touched {
  uint32_t first = UINT32_MAX, last = 0;
};
std::vector<Touched> touched_storages(const Program& program);

class LiveBytes {
 public:
  LiveBytes(size_t num_points) : bytes_(num_points, 0) {}
  // The live bytes of arena storages, by step.
  static LiveBytes of(const Program& program, const std::vector<Touched>& touched);

  void add(uint32_t first, uint32_t end, int64_t bytes) {
    for (uint32_t i = first; i < end; ++i) bytes_[i] += bytes;
  }
  // The first point from which `bytes` more fit within the limit at every point up to `end`.
  uint32_t room_from(uint32_t first, uint32_t end, int64_t bytes, int64_t limit) const {
    while (end > first && bytes_[end - 1] <= limit - bytes) --end;
    return end;
  }
  const std::vector<int64_t>& bytes() const { return bytes_; }

 private:
  std::vector<int64_t> bytes_;
};

inline constexpr size_t kNumStorageKinds = 11;  // StorageKind; 0 is no kind

// The memory that one entry holds while each of its steps runs, by the owner of the memory.
//   arena    from the first step that touches a storage to the last
//   session  from the first step that writes a storage to the end of the entry; storages that the
//            entry only reads: throughout
//   host     storages in host memory, including those that a caller has put there: as in the arena;
//            those of a session: as in the session
//   others   the ports of the entry, and all state and constants: throughout
struct LiveCurves {
  std::vector<int64_t> arena, session, host;     // by step of the entry
  std::array<int64_t, kNumStorageKinds> peak{};  // by StorageKind, without host memory
  int64_t host_peak = 0;
  int64_t device_peak = 0;        // the peak of all kinds together, without host memory
  uint32_t device_peak_step = 0;  // the first step of the program that reaches it
};
// `in_host`: by storage, 1: in host memory; empty: none is.
LiveCurves live_curves(const Program& program, const ProgramEntry& entry,
                       std::span<const uint8_t> in_host = {});

}  // namespace shw
