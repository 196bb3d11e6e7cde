// Numbers of a plan's ports and entries, by name.
#include "plan_names.h"

#include "support/similar.h"

namespace shw::capi {
namespace {

Status no_such(const char* what, const std::string& name, std::vector<std::string> names) {
  std::string known;
  constexpr size_t kFew = 8;
  if (names.size() <= kFew) {
    for (const std::string& n : names) known += (known.empty() ? "; there are: " : ", ") + n;
  } else {
    known = did_you_mean(name, std::move(names));
  }
  return Status(Code::kNotFound, std::string("there is no ") + what + " '" + name + "'" + known);
}

// By port: whether it is an input or output of the entry, or of any entry if `entry` is SHW_NONE.
// Ports that no entry lists are always included.
std::vector<bool> ports_of(const Program& program, size_t entry) {
  std::vector<bool> is_listed(program.ports.size(), false), is_ours(program.ports.size(), false);
  for (size_t e = 0; e < program.entries.size(); ++e)
    for (const auto* list : {&program.entries[e].inputs, &program.entries[e].outputs})
      for (PortId id : *list) {
        is_listed[id.v] = true;
        if (e == entry || entry == SHW_NONE) is_ours[id.v] = true;
      }
  for (size_t p = 0; p < is_ours.size(); ++p) is_ours[p] = is_ours[p] || !is_listed[p];
  return is_ours;
}

}  // namespace

Result<size_t> find_port(const Program& program, size_t entry, const std::string& name) {
  const std::vector<bool> is_ours = ports_of(program, entry);
  std::vector<std::string> names;
  size_t found = SHW_NONE, count = 0;
  for (size_t p = 0; p < is_ours.size(); ++p) {
    const Port& port = program.ports[PortId{static_cast<uint32_t>(p)}];
    if (!is_ours[p]) continue;
    names.push_back(port.name);
    if (port.name != name) continue;
    if (count++ == 0) found = p;
  }
  if (count == 0) return no_such("port", name, std::move(names));
  if (count > 1 && entry == SHW_NONE)
    return failed_precondition("there are " + std::to_string(count) + " ports '" + name +
                               "', of different entries: say of which");
  return found;
}

Result<size_t> find_entry(const Program& program, const std::string& name) {
  std::vector<std::string> names;
  for (const ProgramEntry& entry : program.entries) {
    if (entry.name == name) return names.size();
    names.push_back(entry.name);
  }
  return no_such("entry", name, std::move(names));
}

Result<size_t> find_among(const Program& program, const std::vector<PortId>& ports,
                          const char* what, const std::string& name) {
  std::vector<std::string> names;
  for (PortId id : ports) {
    if (program.ports[id].name == name) return names.size();
    names.push_back(program.ports[id].name);
  }
  return no_such(what, name, std::move(names));
}

}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

namespace {

// `list`: the inputs or the outputs of an entry.
Status find_place(const shw_plan* plan, size_t entry, const char* name, const char* what,
                  std::vector<PortId> ProgramEntry::*list, size_t& out) {
  SHW_WANT(plan);
  SHW_WANT(name);
  const Program& program = plan->ref->plan.program;
  SHW_RETURN_IF_ERROR(check_index(entry, program.entries.size(), "entry"));
  SHW_ASSIGN_OR_RETURN(out, find_among(program, program.entries[entry].*list, what, name));
  return {};
}

}  // namespace

shw_status* shw_plan_find_port(const shw_plan* plan, size_t entry, const char* name,
                               size_t* out_index) {
  return fill_value(
      out_index, "out_index",
      [&](size_t& out) -> Status {
        SHW_WANT(plan);
        SHW_WANT(name);
        if (entry != SHW_NONE)
          SHW_RETURN_IF_ERROR(check_index(entry, plan->ref->entries.size(), "entry"));
        SHW_ASSIGN_OR_RETURN(out, find_port(plan->ref->plan.program, entry, name));
        return {};
      },
      SHW_NONE);
}

shw_status* shw_plan_find_input(const shw_plan* plan, size_t entry, const char* name,
                                size_t* out_index) {
  return fill_value(
      out_index, "out_index",
      [&](size_t& out) -> Status {
        return find_place(plan, entry, name, "input", &ProgramEntry::inputs, out);
      },
      SHW_NONE);
}

shw_status* shw_plan_find_output(const shw_plan* plan, size_t entry, const char* name,
                                 size_t* out_index) {
  return fill_value(
      out_index, "out_index",
      [&](size_t& out) -> Status {
        return find_place(plan, entry, name, "output", &ProgramEntry::outputs, out);
      },
      SHW_NONE);
}

shw_status* shw_plan_find_entry(const shw_plan* plan, const char* name, size_t* out_index) {
  return fill_value(
      out_index, "out_index",
      [&](size_t& out) -> Status {
        SHW_WANT(plan);
        SHW_WANT(name);
        SHW_ASSIGN_OR_RETURN(out, find_entry(plan->ref->plan.program, name));
        return {};
      },
      SHW_NONE);
}
