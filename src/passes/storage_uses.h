// Records the steps that have read and written each storage so far, by window, latest first. The
// linked lists of all storages share one array, to avoid an allocation for each storage.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/window.h"

namespace shw {

class StorageUses {
 public:
  explicit StorageUses(const Program& program)
      : p_(program),
        last_read_(program.storages.size(), kNone),
        last_write_(program.storages.size(), kNone) {}

  void clear() {
    uses_.clear();
    last_read_.assign(last_read_.size(), kNone);
    last_write_.assign(last_write_.size(), kNone);
  }

  // Records that the step reads its operands and writes its results. `number` identifies the step.
  void add(const ProgramStep& step, uint32_t number) {
    for (ValueId v : step.inputs)
      if (v.valid()) add(last_read_, v, number);
    for (ValueId v : step.outputs)
      if (v.valid()) add(last_write_, v, number);
  }

  // Calls `use(number)` for each recorded use that the step depends on: writes of bytes that it
  // reads, and reads of bytes that it writes.
  template <class Use>
  void for_each_before(const ProgramStep& step, Use use) const {
    const auto follow = [&](const std::vector<uint32_t>& last, ValueId v) {
      uint32_t at = last[p_.values[v].storage.v];
      if (at == kNone) return;
      const ByteRange window = touched_bytes(p_.values[v]);
      for (; at != kNone; at = uses_[at].previous)
        if (uses_[at].window.meets(window)) use(uses_[at].number);
    };
    for (ValueId v : step.inputs)
      if (v.valid()) follow(last_write_, v);
    for (ValueId v : step.outputs)
      if (v.valid()) follow(last_read_, v);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Use {
    uint32_t number, previous;
    ByteRange window;
  };

  void add(std::vector<uint32_t>& last, ValueId v, uint32_t number) {
    uint32_t& use = last[p_.values[v].storage.v];
    uses_.push_back({number, use, touched_bytes(p_.values[v])});
    use = static_cast<uint32_t>(uses_.size() - 1);
  }

  const Program& p_;
  std::vector<Use> uses_;
  std::vector<uint32_t> last_read_, last_write_;  // by storage
};

}  // namespace shw
