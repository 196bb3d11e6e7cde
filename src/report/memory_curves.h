// The memory that a rank holds while each step of an entry runs, by purpose. simulate/live_bytes.h
// determines which storages are live; this file classifies them.
#pragma once
#include <string>
#include <vector>

#include "plan/program.h"
#include "simulate/live_bytes.h"

namespace shw::report {

struct MemoryCurve {
  std::string kind;
  std::vector<int64_t> bytes;  // by step of the entry
};

// The curves add up to `live`: scratch, session and all ports of the entry. Curves that are always
// 0 are omitted.
std::vector<MemoryCurve> memory_curves(const Program& program, const ProgramEntry& entry,
                                       const LiveCurves& live);

}  // namespace shw::report
