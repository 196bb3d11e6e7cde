#include "plan/placements.h"

#include "support/json_writer.h"

namespace shw {

std::string placements_json(const Plan& plan) {
  JsonWriter j;
  j.begin_object().member("version", 1).key("mesh").begin_object().key("shape").begin_array();
  for (const Mesh::Axis& axis : plan.program.mesh) j.value(axis.size);
  j.end_array().key("dim_names").begin_array();
  for (const Mesh::Axis& axis : plan.program.mesh) j.value(axis.name);
  j.end_array().end_object().key("nodes").begin_array();
  for (const NodeDecision& d : plan.summary.decisions) {
    j.begin_object().member("name", d.name).member("output", d.result_layout);
    j.key("inputs").begin_array();
    std::string_view left = d.operand_layouts;
    while (!left.empty()) {
      const size_t comma = left.find(", ");
      j.value(left.substr(0, comma));
      left = comma == left.npos ? std::string_view() : left.substr(comma + 2);
    }
    j.end_array().end_object();
  }
  return j.end_array().end_object().take();
}

}  // namespace shw
