// The forward and the backward half of a training step, and which steps write and read each
// storage.
//
// The halves lie in one entry, or each is an entry; then the results that the backward entry reads
// lie in the session. Within one entry a step belongs to the backward half if its node does, or if
// it reads what a step of that half wrote. Uses are counted by storage, so views of one storage
// count as one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/program.h"

namespace shw {

class Joint {
 public:
  Joint(const Program& program, const ProgramEntry& entry) : Joint(program, entry, entry) {}
  // `backward` may be the same entry, or one that runs after `forward`.
  Joint(const Program& program, const ProgramEntry& forward, const ProgramEntry& backward);

  const Program& program() const { return p_; }
  uint32_t num_steps() const { return static_cast<uint32_t>(backward_.size()); }
  // Steps are numbered from 0, those of the backward entry after those of the forward entry.
  uint32_t step_of_program(uint32_t i) const {
    return i < num_first_ ? forward_.first_step + i : backward_entry_.first_step + i - num_first_;
  }
  const ProgramStep& step(uint32_t i) const { return p_.steps[step_of_program(i)]; }
  bool is_backward(uint32_t i) const { return backward_[i]; }
  bool has_backward() const { return has_backward_; }
  // The index of the backward entry in the program, and the number of its first step here.
  uint32_t backward_entry() const {
    return static_cast<uint32_t>(&backward_entry_ - p_.entries.data());
  }
  uint32_t first_of_backward_entry() const { return is_one_entry() ? 0 : num_first_; }
  bool is_one_entry() const { return &forward_ == &backward_entry_; }

  // Whether the storage is scratch that a single forward step writes. Such a storage can be kept or
  // computed again; all others that the backward half reads are available to it anyway.
  bool is_forward(StorageId s) const { return uses_[s.v].forward; }
  uint32_t writer(StorageId s) const { return uses_[s.v].writer; }
  std::span<const uint32_t> forward_readers(StorageId s) const { return uses_[s.v].readers; }
  bool is_read_backward(StorageId s) const { return uses_[s.v].first_backward != UINT32_MAX; }

  // Whether the step can run again in the backward half with the same results: it writes only
  // scratch, nothing that it reads has been overwritten by then, and the backward entry has the
  // inputs that it needs.
  bool can_repeat(uint32_t i) const { return repeatable_[i]; }
  // For forward steps: whether the results depend on parameters only.
  bool is_of_parameters(uint32_t i) const { return of_parameters_[i]; }

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
    // The last backward step in front of which it may be computed again.
    uint32_t latest = 0;
  };
  void find_halves();
  void find_uses();
  void find_repeatable();
  void find_of_parameters();
  bool is_there_backward(StorageId s) const;

  const Program& p_;
  const ProgramEntry &forward_, &backward_entry_;
  const uint32_t num_first_;                                    // steps of the forward entry
  std::vector<uint8_t> backward_, repeatable_, of_parameters_;  // by step
  std::vector<Uses> uses_;                                      // by storage
  bool has_backward_ = false;
};

}  // namespace shw
