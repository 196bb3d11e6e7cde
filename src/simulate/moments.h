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

  // The latest moments among all windows that share bytes with the value's window.
  UseMoments before(ValueId v) const {
    const uint32_t storage = p_.values[v].storage.v;
    return parts_of_[storage] == kNone ? whole_[storage] : before_part(v);
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

  void note(ValueId v, ByteRange& written);
  UseMoments before_part(ValueId v) const;
  UseMoments& of_part(ValueId v);

  const Program& p_;
  std::vector<UseMoments> whole_;   // by storage: the moments of a storage without parts
  std::vector<uint32_t> parts_of_;  // by storage: an index into parts_
  std::vector<std::vector<Part>> parts_;
};

}  // namespace shw
