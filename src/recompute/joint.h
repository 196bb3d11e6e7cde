// The forward and the backward half of one entry: who writes and reads each storage between them.
//
// A step is of the backward half if its node is, or if it reads what a step of that half wrote.
// Storages count, not values: views of one storage are one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/program.h"

namespace shw {

class Joint {
 public:
  Joint(const Program& program, const ProgramEntry& entry);

  const Program& program() const { return p_; }
  uint32_t num_steps() const { return count_; }
  // Steps of the entry are numbered from 0.
  const ProgramStep& step(uint32_t i) const { return p_.steps[first_ + i]; }
  bool is_backward(uint32_t i) const { return backward_[i]; }
  bool has_backward() const { return has_backward_; }

  // Scratch that one forward step writes: it can be kept or computed again. All other storages that
  // the backward half reads are there anyway.
  bool is_forward(StorageId s) const { return uses_[s.v].forward; }
  uint32_t writer(StorageId s) const { return uses_[s.v].writer; }
  std::span<const uint32_t> forward_readers(StorageId s) const { return uses_[s.v].readers; }
  bool is_read_backward(StorageId s) const { return uses_[s.v].first_backward != UINT32_MAX; }

  // Whether the step can run again in the backward half and give the same: it writes scratch alone,
  // and nothing that it reads has been overwritten by then.
  bool can_repeat(uint32_t i) const { return repeatable_[i]; }

  template <class F>
  void for_inputs(uint32_t i, F&& f) const {
    for (ValueId v : step(i).inputs)
      if (v.valid()) f(p_.values[v].storage);
  }
  template <class F>
  void for_outputs(uint32_t i, F&& f) const {
    for (ValueId v : step(i).outputs)
      if (v.valid()) f(p_.values[v].storage);
  }

 private:
  struct Uses {
    bool forward = false;
    uint32_t writer = UINT32_MAX, num_writers = 0;
    std::vector<uint32_t> readers;         // forward steps
    uint32_t first_backward = UINT32_MAX;  // the first backward step that reads it
    uint32_t overwritten = UINT32_MAX;     // input, state: the first step that overwrites it
    // The backward step in front of which it is computed again, at the latest.
    uint32_t latest = 0;
  };
  void find_halves();
  void find_uses();
  void find_repeatable();

  const Program& p_;
  const uint32_t first_, count_;
  std::vector<uint8_t> backward_, repeatable_;  // by step of the entry
  std::vector<Uses> uses_;                      // by storage
  bool has_backward_ = false;
};

}  // namespace shw
