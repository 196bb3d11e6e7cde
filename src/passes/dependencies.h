// The dependencies between the steps of an entry: a step must come after those that wrote what it
// reads, and after those that read what it overwrites. Conflicts are determined by bytes, not by
// storages: windows of one storage that share no bytes are independent.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/program.h"

namespace shw {

class Dependencies {
 public:
  Dependencies(const Program& program, const ProgramEntry& entry);

  // Steps of the entry are numbered from 0. Both lists ascend, and may name a step twice.
  std::span<const uint32_t> before(uint32_t step) const { return before_.of(step); }
  std::span<const uint32_t> after(uint32_t step) const { return after_.of(step); }

 private:
  struct Lists {
    std::vector<uint32_t> first, items;
    std::span<const uint32_t> of(uint32_t step) const {
      return std::span<const uint32_t>(items).subspan(first[step], first[step + 1] - first[step]);
    }
  };
  Lists before_, after_;
};

}  // namespace shw
