// When the storages of an entry were last written and read, window by window: a step that reads one
// window does not wait for those that write the others.
#pragma once
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

// The ends of the latest write and of the latest read.
struct UseMoments {
  Moment written, read;
  Moment chain_written, chain_read;  // ends of the longest chains to a write, to a read
};

class StorageMoments {
 public:
  StorageMoments(const Program& program, const ProgramEntry& entry);

  // Calls `moments` for each window that shares bytes with the value's window.
  template <class Moments>
  void for_each_before(ValueId v, Moments moments) const {
    const uint32_t storage = p_.values[v].storage.v;
    if (parts_of_[storage] == kNone) return moments(whole_[storage]);
    const ByteRange range = touched_bytes(p_.values[v]);
    for (const Part& part : parts_[parts_of_[storage]])
      if (part.range.meets(range)) moments(part.moments);
  }
  // The moments of the value's own window. The reference is valid until the next call.
  UseMoments& of(ValueId v) {
    const uint32_t storage = p_.values[v].storage.v;
    return parts_of_[storage] == kNone ? whole_[storage] : of_part(v);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Part {
    ByteRange range;
    UseMoments moments;
  };

  void note(ValueId v, ValueId& written);
  UseMoments& of_part(ValueId v);

  const Program& p_;
  std::vector<UseMoments> whole_;   // by storage: the moments of a storage without parts
  std::vector<uint32_t> parts_of_;  // by storage: an index into parts_
  std::vector<std::vector<Part>> parts_;
};

}  // namespace shw
