#include "plan/steps.h"

#include "plan/report.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw {
namespace {

void write_names(JsonWriter& j, const Program& p, std::string_view key,
                 const std::vector<uint8_t>& axes) {
  if (axes.empty()) return;
  j.key(key).begin_array();
  for (uint8_t axis : axes) j.value(axis_of(p, axis).name);
  j.end_array();
}

void write_types(JsonWriter& j, const Program& p, std::string_view key,
                 std::span<const ValueId> values) {
  j.key(key).begin_array();
  for (ValueId v : values) j.value(v.valid() ? to_string(p.values[v].type) : "none");
  j.end_array();
}

void write_step(JsonWriter& j, const Program& p, const ProgramEntry& entry, const ProgramStep& s) {
  j.begin_object().member("entry", entry.name).member("kernel", s.kernel);
  write_types(j, p, "inputs", s.inputs);
  write_types(j, p, "outputs", s.outputs);
  write_names(j, p, "axes", s.collective.axes);
  write_names(j, p, "to_axes", s.collective.to_axes);
  if (reduces(s.collective.kind)) j.member("reduce", reduce_op_name(s.collective.op));
  if (s.collective.kind != CollectiveKind::kNone) j.member("wire_bytes", wire_bytes(p, s));
  j.member("cost_us", s.cost_us).member("basis", basis_name(s.basis));
  if (s.node != UINT32_MAX) j.member("node", s.node);
  j.end_object();
}

template <class F>
void for_each_step(const Program& p, F&& f) {
  for (const ProgramEntry& entry : p.entries)
    for (uint32_t i = entry.first_step; i < entry.first_step + entry.num_steps; ++i)
      f(entry, p.steps[i]);
}

}  // namespace

std::string steps_text(const Program& program) {
  std::string text = format("%-48s %12s %12s  %s\n", "step", "wire/rank", "us", "basis");
  int64_t bytes = 0;
  double us = 0;
  for_each_step(program, [&](const ProgramEntry&, const ProgramStep& s) {
    const int64_t sent = wire_bytes(program, s);
    text += format("%-48s %12s %12.3f  %s\n", kernel_text(program, s).c_str(),
                   human_bytes(sent).c_str(), s.cost_us, std::string(basis_name(s.basis)).c_str());
    bytes += sent;
    us += s.cost_us;
  });
  return text + format("%-48s %12s %12.3f\n", "all", human_bytes(bytes).c_str(), us);
}

std::string steps_json(const Program& program) {
  JsonWriter j;
  int64_t bytes = 0;
  double us = 0;
  j.begin_object().key("steps").begin_array();
  for_each_step(program, [&](const ProgramEntry& entry, const ProgramStep& s) {
    write_step(j, program, entry, s);
    bytes += wire_bytes(program, s);
    us += s.cost_us;
  });
  j.end_array().member("wire_bytes", bytes).member("cost_us", us).end_object();
  return j.take();
}

}  // namespace shw
