// When the storages of an entry were last written and read, window by window: a step that reads one
// window does not wait for those that write the others.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/window.h"
#include "simulate/simulate.h"

namespace shw {

// A point in time, and the step that ends there.
struct Moment {
  double us = 0;
  uint32_t step = kNoStep;
  // Of equally late moments the first stays, so the order of calls decides, not the machine.
  void not_before(const Moment& other) {
    if (other.us > us) *this = other;
  }
};

// The last writes and reads to end.
struct UseMoments {
  Moment written, read;
  Moment chain_written, chain_read;  // ends of the longest chains to a write, to a read
};

class StorageMoments {
 public:
  StorageMoments(const Program& program, const ProgramEntry& entry)
      : p_(program), whole_(program.storages.size()), parts_of_(program.storages.size(), kNone) {
    std::vector<ByteRange> written(program.storages.size());
    for (uint32_t i = entry.first_step; i < entry.first_step + entry.num_steps; ++i)
      for (ValueId v : program.steps[i].outputs)
        if (v.valid()) note(v, written[program.values[v].storage.v]);
  }

  // Those of all windows that share bytes with the value's.
  template <class Use>
  void for_shared(ValueId v, Use use) const {
    const uint32_t storage = p_.values[v].storage.v, parts = parts_of_[storage];
    if (parts == kNone) return use(whole_[storage]);
    const ByteRange range = touched_bytes(p_.values[v]);
    for (const Part& part : parts_[parts])
      if (part.range.meets(range)) use(part.moments);
  }
  // Those of the value's window. Valid until the next call.
  UseMoments& of(ValueId v) {
    const uint32_t storage = p_.values[v].storage.v, parts = parts_of_[storage];
    if (parts == kNone) return whole_[storage];
    const ByteRange range = touched_bytes(p_.values[v]);
    const auto at = std::ranges::find(parts_[parts], range, &Part::range);
    if (at != parts_[parts].end()) return at->moments;
    return parts_[parts].emplace_back(Part{range, {}}).moments;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Part {
    ByteRange range;
    UseMoments moments;
  };

  // A storage has parts if steps write more than one window of it.
  void note(ValueId v, ByteRange& written) {
    const ByteRange range = touched_bytes(p_.values[v]);
    uint32_t& parts = parts_of_[p_.values[v].storage.v];
    if (written.empty()) {
      written = range;
    } else if (range != written && parts == kNone) {
      parts = static_cast<uint32_t>(parts_.size());
      parts_.emplace_back();
    }
  }

  const Program& p_;
  std::vector<UseMoments> whole_;   // by storage: of one without parts
  std::vector<uint32_t> parts_of_;  // by storage: an index into parts_
  std::vector<std::vector<Part>> parts_;
};

}  // namespace shw
