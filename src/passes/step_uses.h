// The first and last steps of a program that write and read each storage, and their number.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace shw {

struct StepUses {
  uint32_t first_writer = kNoStep, last_writer = kNoStep, num_writers = 0;
  uint32_t last_reader = kNoStep, num_readers = 0;

  // True if certainly no step from `begin` to `end` writes the storage.
  bool keeps(uint32_t begin, uint32_t end) const {
    return num_writers == 0 || last_writer < begin || first_writer > end;
  }
};

// By storage. A step that reads a storage twice counts twice.
std::vector<StepUses> step_uses(const Program& program);

}  // namespace shw
