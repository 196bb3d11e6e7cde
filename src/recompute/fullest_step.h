// The step at which a program holds the most scratch if its steps run one after another, and how
// each storage is used.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace shw {

struct StorageLife {
  uint32_t first = kNoStep, last = 0;  // steps that touch it
  uint32_t writer = kNoStep;           // kNoStep unless exactly one step writes it
  uint32_t num_writers = 0, last_writer = kNoStep;
};

struct FullestStep {
  uint32_t at = 0;
  int64_t live_bytes = 0;
  std::vector<StorageLife> lives;    // by storage
  std::vector<StepSpan> spans;       // by step: the steps of its group
  std::vector<uint8_t> is_of_group;  // by storage: only one group touches it, so it needs no memory
  bool is_live(StorageId s) const {
    const StorageLife& life = lives[s.v];
    return life.first != kNoStep && is_of_group[s.v] == 0 && spans[life.first].first <= at &&
           spans[life.last].last >= at;
  }
};
FullestStep fullest_step(const Program& program);

inline bool is_scratch(const Program& program, StorageId s) {
  return program.storages[s].kind == StorageKind::kArena;
}
inline int64_t padded_bytes(const Program& program, StorageId s) {
  return padded_bytes(program, program.storages[s].bytes);
}

template <class F>
void for_storages(const Program& program, std::span<const ValueId> values, F f) {
  for (ValueId v : values)
    if (v.valid()) f(program.values[v].storage);
}

}  // namespace shw
