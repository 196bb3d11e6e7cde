// A lower bound on the time of an entry, for every order of its steps and any prefetching.
#pragma once
#include "simulate/simulate.h"

namespace shw {

// A step of a queue cannot begin before the longest chain of steps in front of it has ended, and
// the longest chain behind it comes after its end; a queue runs one step at a time. For each queue
// alone the best order is known if steps may be interrupted (Jackson 1955, Carlier 1982). The
// result is the maximum over the queues, which is at least Simulation::lower_bound_us. `simulation`
// is the result of simulate() for the entry. Takes O(n log n) time.
double lower_bound_us(const Program& program, const ProgramEntry& entry,
                      const Simulation& simulation);

}  // namespace shw
