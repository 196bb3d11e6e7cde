// Summarises the simulation of each entry for the reports of plan/report.h.
#pragma once
#include <string>
#include <vector>

#include "plan/report.h"
#include "simulate/simulate.h"

namespace shw {

// "compute", "to_host" or "from_host"; for a communicator the mesh dims of its group, in the order
// of the mesh: "dp", "dp+tp".
std::string queue_name(const Program& program, const SimulatedQueue& queue);

EntryTime entry_time(const Program& program, const ProgramEntry& entry);
std::vector<EntryTime> entry_times(const Program& program);  // by entry

}  // namespace shw
