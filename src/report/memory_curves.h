// What a rank holds while each step of an entry runs, by what it is for. The storages and when they
// are live are those of simulate/live_bytes.h; this names them.
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

// They add up to `live`: scratch, session and all ports of the entry. Those that are always 0 are
// left out.
std::vector<MemoryCurve> memory_curves(const Program& program, const ProgramEntry& entry,
                                       const LiveCurves& live);

}  // namespace shw::report
