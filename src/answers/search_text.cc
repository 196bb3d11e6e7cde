// Search results as text and JSON.
#include "answers/search.h"
#include "plan/report.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::answers {

std::string to_json(const std::vector<MeshCandidate>& candidates) {
  JsonWriter j;
  j.begin_object().key("meshes").begin_array();
  for (const MeshCandidate& c : candidates) {
    j.begin_object().member("mesh", c.mesh);
    if (!c.input_layout.empty()) j.member("input_layout", c.input_layout);
    if (c.given_up) {
      j.member("given_up", true).member("bound", c.bound_us);
    } else if (c.status.ok()) {
      j.member("batch", c.batch)
          .member("objective", c.objective_us)
          .member("bound", c.bound_us)
          .member("proven", c.proven);
      j.member("compute", c.compute_us).member("comm", c.comm_us).member("program", c.program_us);
      j.member("step", c.step_us);
      j.member("memory_peak_bytes", c.memory_peak_bytes);
    } else {
      j.member("why_not", c.status.message());
    }
    j.member("seconds", c.seconds).end_object();
  }
  j.end_array().end_object();
  return j.take();
}

std::string to_text(const std::vector<MeshCandidate>& candidates) {
  std::string text = format("%-22s %-14s %-10s %14s %10s %14s %14s %14s %12s  %s\n", "mesh",
                            "inputs", "batch over", "objective µs", "of best", "compute µs",
                            "comm µs", "simulated µs", "memory", "");
  for (const MeshCandidate& c : candidates) {
    const std::string inputs = c.input_layout.empty() ? "free" : c.input_layout;
    text += format("%-22s %-14s ", c.mesh.c_str(), inputs.c_str());
    if (!c.status.ok())
      text += "no plan: " + c.status.message() + "\n";
    else if (c.given_up)
      text += format("%-10s ≥ %11.1f %9.3f×  abandoned: not among the best\n", "", c.bound_us,
                     c.bound_us / candidates.front().objective_us);
    else
      text +=
          format("%-10s %13.1f %9.3f× %13.1f %13.1f %13.1f %12s  %s\n",
                 c.batch.empty() ? "none" : c.batch.c_str(), c.objective_us,
                 c.objective_us / candidates.front().objective_us, c.compute_us, c.comm_us,
                 c.step_us, human_bytes(c.memory_peak_bytes).c_str(), c.proven ? "" : "not proven");
  }
  return text;
}

}  // namespace shw::answers
