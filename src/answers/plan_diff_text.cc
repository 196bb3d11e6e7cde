// Plan differences as text and JSON.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "answers/plan_diff.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::answers {
namespace {

void write_figures(JsonWriter& j, std::string_view key, const PlanFigures& f) {
  j.key(key).begin_object().member("mesh", f.mesh).member("hardware", f.hardware);
  j.member("rules", f.rules).member("objective", f.objective_us).member("proven", f.proven);
  j.member("compute", f.compute_us).member("comm", f.comm_us);
  j.member("transition", f.transition_us).key("memory_per_rank").begin_object();
  j.member("parameters", f.parameter_bytes).member("gradients", f.gradient_bytes);
  j.member("arena", f.arena_bytes).member("planned_peak", f.memory_peak_bytes);
  j.key("planned_peak_by_kind").begin_object();
  for (const auto& [kind, bytes] : f.peak_by_kind) j.member(kind, bytes);
  j.end_object().end_object();
  j.key("collectives").begin_object();
  for (const auto& [kind, total] : f.collectives) {
    j.key(kind).begin_object().member("count", total.count);
    j.member("wire_bytes_per_rank", total.wire_bytes).end_object();
  }
  j.end_object().end_object();
}

void write_names(JsonWriter& j, std::string_view key, const std::vector<std::string>& names) {
  j.key(key).begin_array();
  for (const std::string& name : names) j.value(name);
  j.end_array();
}

std::string us_row(const char* what, double before, double after) {
  return format("%-17s %16.3f → %16.3f  %+14.3f\n", what, before, after, after - before);
}

std::string bytes_row(const char* what, int64_t before, int64_t after) {
  const int64_t more = after - before;
  return format("%-17s %16s → %16s  %14s\n", what, human_bytes(before).c_str(),
                human_bytes(after).c_str(),
                ((more < 0 ? "-" : "+") + human_bytes(std::abs(more))).c_str());
}

std::string text_row(const char* what, const std::string& before, const std::string& after) {
  if (before == after) return format("%-17s %s\n", what, before.c_str());
  return format("%-17s %16s → %16s\n", what, before.c_str(), after.c_str());
}

std::string collective_rows(const PlanFigures& before, const PlanFigures& after) {
  std::set<std::string> kinds;
  for (const auto* figures : {&before, &after})
    for (const auto& total : figures->collectives) kinds.insert(total.first);
  const auto of = [](const PlanFigures& f, const std::string& kind) {
    const auto it = f.collectives.find(kind);
    return it == f.collectives.end() ? CollectiveTotal{} : it->second;
  };
  std::string t;
  for (const std::string& kind : kinds) {
    const CollectiveTotal was = of(before, kind), is = of(after, kind);
    const auto one = [](const CollectiveTotal& c) {
      return std::to_string(c.count) + ", " + human_bytes(static_cast<int64_t>(c.wire_bytes));
    };
    t += format("%-17s %16s → %16s  %+14lld\n", kind.c_str(), one(was).c_str(), one(is).c_str(),
                static_cast<long long>(is.count) - static_cast<long long>(was.count));
  }
  return t;
}

// The breakdown of both peaks, if both are known.
std::string peak_rows(const PlanFigures& before, const PlanFigures& after) {
  if (before.memory_peak_bytes == 0 || after.memory_peak_bytes == 0) return "";
  std::string t = bytes_row("planned peak", before.memory_peak_bytes, after.memory_peak_bytes);
  if (before.peak_by_kind.empty() || after.peak_by_kind.empty()) return t;
  std::set<std::string> kinds;
  for (const auto* figures : {&before, &after})
    for (const auto& kind : figures->peak_by_kind) kinds.insert(kind.first);
  const auto of = [](const PlanFigures& f, const std::string& kind) {
    const auto it = f.peak_by_kind.find(kind);
    return it == f.peak_by_kind.end() ? int64_t{0} : it->second;
  };
  for (const std::string& kind : kinds) {
    std::string name = "  " + kind;
    std::ranges::replace(name, '_', ' ');
    t += bytes_row(name.c_str(), of(before, kind), of(after, kind));
  }
  return t;
}

std::string names_text(const std::vector<std::string>& names) {
  std::string t;
  for (const std::string& name : names) t += "          " + name + "\n";
  return t;
}

}  // namespace

std::string to_json(const PlanDiff& diff) {
  JsonWriter j;
  j.begin_object();
  write_figures(j, "before", diff.before);
  write_figures(j, "after", diff.after);
  j.key("delta").begin_object();
  j.member("objective", diff.after.objective_us - diff.before.objective_us);
  j.member("compute", diff.after.compute_us - diff.before.compute_us);
  j.member("comm", diff.after.comm_us - diff.before.comm_us);
  j.member("transition", diff.after.transition_us - diff.before.transition_us).end_object();
  j.key("changes").begin_array();
  for (const LayoutChange& c : diff.changes) {
    j.begin_object().member("from", c.from).member("to", c.to).member("count", c.nodes.size());
    write_names(j, "nodes", c.nodes);
    j.end_object();
  }
  j.end_array().member("unchanged", diff.unchanged);
  write_names(j, "operands_only", diff.operands_only);
  write_names(j, "only_before", diff.only_before);
  write_names(j, "only_after", diff.only_after);
  return j.end_object().take();
}

std::string to_text(const PlanDiff& diff, bool with_nodes) {
  const PlanFigures &a = diff.before, &b = diff.after;
  std::string t = text_row("mesh", a.mesh, b.mesh) + text_row("hardware", a.hardware, b.hardware) +
                  text_row("rules", a.rules, b.rules);
  t += "\nmodelled µs\n" + us_row("objective", a.objective_us, b.objective_us) +
       us_row("compute", a.compute_us, b.compute_us) +
       us_row("communication", a.comm_us, b.comm_us) +
       us_row("transitions", a.transition_us, b.transition_us);
  t += "\nmemory per rank\n" + bytes_row("parameters", a.parameter_bytes, b.parameter_bytes) +
       bytes_row("gradients", a.gradient_bytes, b.gradient_bytes) +
       bytes_row("arena", a.arena_bytes, b.arena_bytes) + peak_rows(a, b);
  t += "\ncollectives: count, bytes sent per rank\n" + collective_rows(a, b) + "\nnodes\n";
  for (const LayoutChange& c : diff.changes) {
    t += format("%8zu  %s → %s\n", c.nodes.size(), c.from.c_str(), c.to.c_str());
    if (with_nodes) t += names_text(c.nodes);
  }
  const auto group = [&](const std::vector<std::string>& names, const char* what) {
    if (names.empty()) return;
    t += format("%8zu  %s\n", names.size(), what);
    if (with_nodes) t += names_text(names);
  };
  group(diff.operands_only, "same result layout, other operand layouts");
  group(diff.only_before, "gone");
  group(diff.only_after, "new");
  return t + format("%8u  unchanged\n", diff.unchanged);
}

}  // namespace shw::answers
