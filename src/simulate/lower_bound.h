// What no order of an entry's steps, and no prefetching, can make shorter.
#pragma once
#include "simulate/simulate.h"

namespace shw {

// A step of a queue cannot begin before the longest chain of steps in front of it has ended, and
// the longest chain behind it comes after its end; a queue runs one step at a time. For each queue
// alone the best order is known if steps may be interrupted (Jackson 1955, Carlier 1982). The
// result is the longest of those, which is at least Simulation::lower_bound_us. `simulation` is
// what simulate() said of the entry. Takes n log n time.
double lower_bound_us(const Program& program, const ProgramEntry& entry,
                      const Simulation& simulation);

}  // namespace shw
