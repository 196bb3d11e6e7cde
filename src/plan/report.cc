#include "plan/report.h"

#include <algorithm>

#include "plan/memory_report.h"
#include "support/format.h"
#include "support/json_writer.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

std::string mesh_text(const Program& program) {
  std::string s;
  for (const Mesh::Axis& a : program.mesh)
    s += (s.empty() ? "" : ",") + a.name + "=" + std::to_string(a.size);
  return s;
}

template <class F>
void for_ports(const Program& program, PortRole role, F f) {
  for (const Port& p : program.ports)
    if (p.role == role && p.value.valid()) f(p);
}

// A port's bytes on one rank.
int64_t bytes_of(const Program& program, PortId id) {
  const Port& port = program.ports[id];
  return port.value.valid() ? program.values[port.value].type.bytes() : 0;
}

// By name of an entry with buckets: the bucket whose inputs and outputs have the most bytes.
std::map<std::string, const ProgramEntry*> largest_buckets(const Program& program) {
  const auto size = [&](const ProgramEntry& entry) {
    int64_t bytes = 0;
    for (const auto* list : {&entry.inputs, &entry.outputs})
      for (PortId id : *list) bytes += bytes_of(program, id);
    return bytes;
  };
  std::map<std::string, const ProgramEntry*> largest;
  for (const ProgramEntry& entry : program.entries) {
    if (entry.bucket_of.empty()) continue;
    const ProgramEntry*& best = largest[entry.bucket_of];
    if (best == nullptr || size(entry) > size(*best)) best = &entry;
  }
  return largest;
}

// By port: whether it takes memory of its own on a rank, counting only the largest bucket of each
// entry. An output that overwrites an input does not.
std::vector<bool> held_ports(const Program& program) {
  const auto largest = largest_buckets(program);
  std::vector<bool> held(program.ports.size(), true);
  const auto mark = [&](const ProgramEntry& entry, bool is_held) {
    for (const auto* list : {&entry.inputs, &entry.outputs})
      for (PortId id : *list) held[id.v] = is_held;
  };
  const auto runs = [&](const ProgramEntry& entry) {
    return entry.bucket_of.empty() || largest.at(entry.bucket_of) == &entry;
  };
  for (const ProgramEntry& entry : program.entries)
    if (!runs(entry)) mark(entry, false);
  for (const ProgramEntry& entry : program.entries)
    if (runs(entry)) mark(entry, true);
  for (uint32_t i = 0; i < held.size(); ++i) {
    const Port& port = program.ports[PortId{i}];
    if (!port.value.valid() || program.storages[program.values[port.value].storage].port != i)
      held[i] = false;
  }
  return held;
}

std::string with_stars(const std::string& name) {
  std::string s;
  for (char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      s += c;
    else if (s.empty() || s.back() != '*')
      s += (s.empty() || s.back() == '.') ? '*' : c;
  }
  return s;
}

// "buckets  decode: cache=16; cache=64", a line per entry of the graph.
std::string buckets_text(const Program& p) {
  std::string text;
  std::string_view last;
  for (const ProgramEntry& e : p.entries) {
    if (e.bucket_of.empty()) continue;
    text += e.bucket_of == last ? "; "
                                : (text.empty() ? "buckets  " : "\n         ") + e.bucket_of + ": ";
    text += sizes_text(e.bucket, p.symbols);
    last = e.bucket_of;
  }
  return text.empty() ? text : text + "\n";
}

std::string ports_table(const Program& program, PortRole role) {
  std::string s = format("  %-22s %6s %12s  %s\n", "layout", "count", "bytes/rank", "which");
  for (const PortGroup& g : group_ports(program, role))
    s += format("  %-22s %6u %12s  %s\n", g.layout.c_str(), g.count,
                human_bytes(g.bytes_per_rank).c_str(), g.pattern.c_str());
  return s;
}

}  // namespace

std::string human_bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto v = static_cast<double>(bytes);
  size_t unit = 0;
  while (v >= 1024 && unit + 1 < std::size(kUnits)) v /= 1024, ++unit;
  return unit == 0 ? std::to_string(bytes) + " B" : format("%.2f %s", v, kUnits[unit]);
}

int64_t wire_bytes(const Program& program, const ProgramStep& step) {
  if (step.collective.kind == CollectiveKind::kNone) return 0;
  int64_t n = 1;
  for (uint8_t axis : step.collective.axes) n *= axis_of(program, axis).size;
  const int64_t in = program.values[step.inputs[0]].type.bytes();
  const int64_t out = program.values[step.outputs[0]].type.bytes();
  int64_t whole = in;
  if (step.collective.kind == CollectiveKind::kAllGather) whole = out;
  if (step.collective.kind == CollectiveKind::kAllReduce) whole = 2 * in;
  if (step.collective.kind == CollectiveKind::kPermute) return in;  // to one member
  return static_cast<int64_t>(static_cast<double>(whole) * static_cast<double>(n - 1) /
                              static_cast<double>(n));
}

std::map<std::string, CollectiveTotal> collective_totals(const Program& program) {
  std::map<std::string, CollectiveTotal> totals;
  for (const ProgramStep& step : program.steps) {
    if (step.collective.kind == CollectiveKind::kNone) continue;
    CollectiveTotal& t = totals[step.kernel];
    ++t.count;
    t.wire_bytes += static_cast<uint64_t>(wire_bytes(program, step));
  }
  return totals;
}

std::string_view basis_name(PriceBasis basis) {
  static constexpr std::string_view kNames[kNumPriceBases] = {"unknown", "measured", "interpolated",
                                                              "analytical", "fallback"};
  return kNames[static_cast<size_t>(basis)];
}

ProgramCost program_cost(const Program& program) {
  ProgramCost cost;
  for (const ProgramStep& step : program.steps) {
    cost.us += step.cost_us;
    cost.by_basis_us[static_cast<size_t>(step.basis)] += step.cost_us;
    if (step.collective.kind != CollectiveKind::kNone) cost.collectives_us += step.cost_us;
  }
  return cost;
}

Recomputation recomputation(const Program& program) {
  Recomputation r;
  std::vector<uint8_t> written(program.storages.size(), 0);  // by a forward step, not counted yet
  for (const ProgramStep& step : program.steps) {
    const bool backward = step.phase != 0;
    if (step.recomputed) ++r.steps, r.us += step.cost_us;
    for (ValueId v : step.inputs)
      if (v.valid() && backward && std::exchange(written[program.values[v].storage.v], 0) != 0)
        r.kept_bytes += program.storages[program.values[v].storage].bytes;
    for (ValueId v : step.outputs)
      if (!backward &&
          (program.lies_in(v, StorageKind::kArena) || program.lies_in(v, StorageKind::kSession)))
        written[program.values[v].storage.v] = 1;
  }
  return r;
}

// The sum of the bytes of all storages that lie in outputs, even if they share bytes.
int64_t lent_bytes(const Program& program) {
  int64_t bytes = 0;
  for (const ProgramStorage& s : program.storages)
    if (s.kind == StorageKind::kInOutput) bytes += s.bytes;
  return bytes;
}

int64_t port_bytes(const Program& program, std::optional<PortRole> role) {
  const std::vector<bool> held = held_ports(program);
  int64_t bytes = 0;
  for (uint32_t i = 0; i < held.size(); ++i)
    if (const PortId id{i}; held[i] && (!role || program.ports[id].role == *role))
      bytes += bytes_of(program, id);
  return bytes;
}

std::vector<PortGroup> group_ports(const Program& program, PortRole role) {
  std::vector<PortGroup> groups;
  const auto mesh_rank = static_cast<int>(program.mesh.size());
  for_ports(program, role, [&](const Port& p) {
    const std::string pattern = with_stars(p.name), layout = to_string(p.layout, mesh_rank);
    auto it = std::find_if(groups.begin(), groups.end(), [&](const PortGroup& g) {
      return g.pattern == pattern && g.layout == layout;
    });
    if (it == groups.end()) it = groups.insert(it, {pattern, layout, 0, 0});
    ++it->count;
    it->bytes_per_rank += program.values[p.value].type.bytes();
  });
  sort_stably(groups, [](const PortGroup& a, const PortGroup& b) { return a.layout < b.layout; });
  return groups;
}

namespace {

// The gap, as a share of the simulated times of all entries: PlanSummary::recompute_excess_us.
double recompute_gap(const PlanSummary& s, std::span<const EntryTime> times) {
  double us = 0;
  for (const EntryTime& time : times) us += time.us;
  return us > 0 ? s.recompute_excess_us / us : 0;
}

std::string recomputation_text(const Plan& plan, std::span<const EntryTime> times) {
  const Recomputation r = recomputation(plan.program);
  const PlanSummary& s = plan.summary;
  if (r.steps == 0 && s.recompute_excess_us < 0) return {};
  std::string text = format("recompute  %u steps again, %.3f µs; kept for the backward pass: %s\n",
                            r.steps, r.us, human_bytes(r.kept_bytes).c_str());
  if (s.recompute_excess_us >= 0)
    text +=
        format("         at most %.3f µs more than the best choice for the limit: gap %.3g %%\n",
               s.recompute_excess_us, 100 * recompute_gap(s, times));
  if (s.step_bound_us > 0)
    text += format("         no placement and choice within the limit have a step below %.3f µs\n",
                   s.step_bound_us);
  return text;
}

// "groups   576 of 2264 steps run slice by slice", and a line for each kind of group, with the
// number of groups of the same steps over the same dims.
std::string fused_groups_text(const Program& p) {
  uint64_t steps = 0;
  std::map<std::string, uint32_t> kinds;
  for (const FusedGroup& group : p.fused_groups) {
    steps += group.num_steps;
    ++kinds[fused_group_text(p, group)];
  }
  if (steps == 0) return {};
  std::string text = format("groups   %zu of %llu steps run slice by slice\n",
                            p.fused_groups.size(), static_cast<unsigned long long>(steps));
  for (const auto& [kind, count] : kinds) text += format("  %6u × %s\n", count, kind.c_str());
  return text;
}

// "prices   measured 30.0 %, analytical 70.0 %", as shares of the sum of all steps.
std::string bases_text(const ProgramCost& cost) {
  std::string text;
  for (size_t b = 0; b < kNumPriceBases; ++b)
    if (cost.by_basis_us[b] > 0)
      text += format("%s%s %.1f %%", text.empty() ? "prices   " : ", ",
                     std::string(basis_name(static_cast<PriceBasis>(b))).c_str(),
                     100 * cost.by_basis_us[b] / cost.us);
  return text.empty() ? text : text + "\n";
}

// "run      step: simulated 40.000 µs, exposed collectives 5.000 µs, lower bound 38.000 µs", and
// below it the parts of the bound.
std::string times_text(const Program& p, std::span<const EntryTime> times) {
  std::string text;
  for (size_t e = 0; e < times.size(); ++e) {
    const EntryTime& time = times[e];
    text +=
        format("run      %s: simulated %.3f µs, exposed collectives %.3f µs, lower bound %.3f µs\n",
               p.entries[e].name.c_str(), time.us, time.exposed_us, time.lower_bound_us);
    text +=
        format("         %.2f times the bound; unavoidable of the exposed: %.3f µs\n",
               time.lower_bound_us > 0 ? time.us / time.lower_bound_us : 1.0, time.unavoidable_us);
    text += format("  %-22s %6s %15s %15s\n", "queue", "steps", "busy µs", "exposed µs");
    for (const QueueTime& q : time.queues)
      text += format("  %-22s %6u %14.3f %14.3f\n", q.name.c_str(), q.num_steps, q.busy_us,
                     q.exposed_us);
    text += format("  %-22s %6s %14.3f\n", "longest chain", "", time.longest_chain_us);
  }
  return text;
}

}  // namespace

std::string plan_text(const Plan& plan, std::span<const EntryTime> times) {
  const PlanSummary& s = plan.summary;
  const Program& p = plan.program;
  std::string t =
      format("plan     mesh %s (%lld ranks), hardware %s, rules %s%s%s\n", mesh_text(p).c_str(),
             static_cast<long long>(num_ranks(p)), s.hardware.c_str(), s.rules.c_str(),
             s.overlap.empty() ? "" : ", overlap ", s.overlap.c_str());
  t += format("graph    %u nodes, %llu strategies\n", s.num_nodes,
              static_cast<unsigned long long>(s.num_strategies));
  t += buckets_text(p);
  t += format("cost     %.3f µs: compute %.3f, communication %.3f, transitions %.0f\n",
              s.objective_us, s.compute_us, s.comm_us, s.transition_us);
  // It bounds the objective, not the simulated time.
  t += format("bound    %.3f µs%s, %s\n", s.bound_us,
              s.overlap == "simulated" ? " of the cheapest placement" : "",
              s.proven ? "proven optimal"
                       : format("not proven: gap %.3g %%",
                                100 * (s.objective_us - s.bound_us) / s.objective_us)
                             .c_str());
  t += "\nparameters\n" + ports_table(p, PortRole::kParameter);
  t += "\ninputs and results\n" + ports_table(p, PortRole::kInput) +
       ports_table(p, PortRole::kResult).substr(ports_table(p, PortRole::kResult).find('\n') + 1);
  t += format("\n  %-22s %6s %12s\n", "collective", "count", "wire/rank");
  CollectiveTotal all;
  for (const auto& [kind, c] : collective_totals(p)) {
    t += format("  %-22s %6llu %12s\n", kind.c_str(), static_cast<unsigned long long>(c.count),
                human_bytes(static_cast<int64_t>(c.wire_bytes)).c_str());
    all.count += c.count;
    all.wire_bytes += c.wire_bytes;
  }
  t += format("  %-22s %6llu %12s\n", "all", static_cast<unsigned long long>(all.count),
              human_bytes(static_cast<int64_t>(all.wire_bytes)).c_str());
  t += format(
      "\nmemory per rank\n  parameters %s, gradients %s, buffers %s, inputs %s, results %s\n",
      human_bytes(port_bytes(p, PortRole::kParameter)).c_str(),
      human_bytes(port_bytes(p, PortRole::kGradient)).c_str(),
      human_bytes(port_bytes(p, PortRole::kBuffer)).c_str(),
      human_bytes(port_bytes(p, PortRole::kInput) + port_bytes(p, PortRole::kTangent)).c_str(),
      human_bytes(port_bytes(p, PortRole::kResult)).c_str());
  t += format("  activations and workspace: arena %s, live peak %s\n",
              human_bytes(p.arena_bytes).c_str(), human_bytes(p.live_peak_bytes).c_str());
  if (const int64_t lent = lent_bytes(p); lent > 0)
    t += format("  scratch in the memory of outputs until they are written: %s\n",
                human_bytes(lent).c_str());
  if (p.group_bytes > 0)
    t += format("  groups of steps, where they run step by step: %s\n",
                human_bytes(p.group_bytes).c_str());
  if (host_memory_bytes(p) > 0)
    t += format("  host memory, for results that wait: %s\n",
                human_bytes(host_memory_bytes(p)).c_str());
  t += memory_text(s);
  const ProgramCost lowered = program_cost(p);
  t += format("program  %zu steps, %u events; one after another %.3f µs, collectives %.3f\n",
              p.steps.size(), p.num_events, lowered.us, lowered.collectives_us);
  t += fused_groups_text(p);
  return t + recomputation_text(plan, times) + bases_text(lowered) + times_text(p, times);
}

namespace {

void write_summary(JsonWriter& j, const PlanSummary& s, const Program& p) {
  j.member("objective", s.objective_us).member("bound", s.bound_us).member("proven", s.proven);
  j.member("compute", s.compute_us).member("comm", s.comm_us);
  j.member("transition", s.transition_us).member("nodes", s.num_nodes);
  j.member("strategies", s.num_strategies).member("mesh", mesh_text(p));
  j.member("ranks", num_ranks(p)).member("hardware", s.hardware).member("rules", s.rules);
  j.member("overlap", s.overlap.empty() ? "none" : s.overlap);
}

void write_collectives(JsonWriter& j, const Program& p) {
  j.key("collectives").begin_object();
  for (const auto& [kind, c] : collective_totals(p)) {
    j.key(kind).begin_object().member("count", c.count);
    j.member("wire_bytes_per_rank", c.wire_bytes).end_object();
  }
  j.end_object();
}

void write_ports(JsonWriter& j, const Program& p) {
  j.key("memory_per_rank").begin_object();
  j.member("parameters", port_bytes(p, PortRole::kParameter));
  j.member("gradients", port_bytes(p, PortRole::kGradient));
  j.member("arena", p.arena_bytes).member("live_peak", p.live_peak_bytes);
  j.member("in_outputs", lent_bytes(p));
  j.member("groups", p.group_bytes).member("host", host_memory_bytes(p)).end_object();
}

void write_fused_groups(JsonWriter& j, const Program& p) {
  const auto write_dims = [&](std::string_view key, const Dims& dims) {
    j.key(key).begin_array();
    for (const int64_t n : dims) j.value(n);
    j.end_array();
  };
  j.key("fused_groups").begin_array();
  for (const FusedGroup& group : p.fused_groups) {
    j.begin_object().member("first_step", group.first_step);
    write_dims("shape", group.shape);
    write_dims("slices", group.slices);
    j.key("kernels").begin_array();
    for (uint32_t i = 0; i < group.num_steps; ++i) j.value(p.steps[group.first_step + i].kernel);
    j.end_array().end_object();
  }
  j.end_array();
}

void write_recomputation(JsonWriter& j, const Plan& plan, std::span<const EntryTime> times) {
  const Recomputation r = recomputation(plan.program);
  j.key("recompute").begin_object().member("kept_bytes", r.kept_bytes);
  j.member("steps", r.steps).member("us", r.us);
  if (plan.summary.recompute_excess_us >= 0)
    j.member("excess_us", plan.summary.recompute_excess_us)
        .member("gap", recompute_gap(plan.summary, times));
  if (plan.summary.step_bound_us > 0) j.member("step_bound_us", plan.summary.step_bound_us);
  j.end_object();
}

void write_times(JsonWriter& j, const Program& p, std::span<const EntryTime> times) {
  j.key("simulated").begin_object();
  for (size_t e = 0; e < times.size(); ++e) {
    const EntryTime& time = times[e];
    j.key(p.entries[e].name).begin_object().member("us", time.us);
    j.member("exposed", time.exposed_us).member("lower_bound", time.lower_bound_us);
    j.member("unavoidable", time.unavoidable_us);
    j.member("longest_chain", time.longest_chain_us);
    j.member("device_peak_bytes", time.device_peak_bytes).key("queues").begin_array();
    for (const QueueTime& q : time.queues) {
      j.begin_object().member("name", q.name).member("steps", q.num_steps);
      j.member("busy", q.busy_us).member("exposed", q.exposed_us).end_object();
    }
    j.end_array().end_object();
  }
  j.end_object();
}

void write_symbols(JsonWriter& j, const Program& p) {
  if (p.symbols.empty()) return;
  j.key("symbols").begin_object();
  for (const Symbol& s : p.symbols) {
    j.key(s.name).begin_object().member("min", s.min).member("max", s.max);
    j.member("divisor", s.divisor).member("hint", s.hint).end_object();
  }
  j.end_object();
}

void write_bucket(JsonWriter& j, const Program& p, const ProgramEntry& entry) {
  j.member("bucket_of", entry.bucket_of).key("bucket").begin_object();
  for (size_t s = 0; s < entry.bucket.size(); ++s)
    if (entry.bucket[s] >= 0) j.member(p.symbols[s].name, entry.bucket[s]);
  j.end_object();
}

void write_entries(JsonWriter& j, const Program& p) {
  const auto mesh_rank = static_cast<int>(p.mesh.size());
  j.key("entries").begin_object();
  for (const ProgramEntry& entry : p.entries) {
    j.key(entry.name).begin_object();
    if (!entry.bucket_of.empty()) write_bucket(j, p, entry);
    for (const auto& [key, ports] :
         {std::pair("inputs", &entry.inputs), std::pair("outputs", &entry.outputs)}) {
      j.key(key).begin_array();
      for (PortId id : *ports) {
        const Port& port = p.ports[id];
        j.begin_object().member("name", port.name).member("type", to_string(port.global));
        j.member("layout", to_string(port.layout, mesh_rank));
        if (!port.sizes.empty()) j.member("sizes", exprs_text(port.sizes, p.symbols));
        j.member("present", port.value.valid()).end_object();
      }
      j.end_array();
    }
    j.end_object();
  }
  j.end_object();
}

void write_decisions(JsonWriter& j, const PlanSummary& s) {
  j.key("decisions").begin_array();
  for (const NodeDecision& d : s.decisions) {
    j.begin_object().member("name", d.name).member("op", d.op);
    j.member("phase", d.phase == 0 ? "forward" : "backward").member("module_path", d.module_path);
    j.member("operands", d.operand_layouts).member("result", d.result_layout);
    j.member("compute", d.compute_us).member("comm", d.comm_us);
    j.member("transition", d.transition_us).end_object();
  }
  j.end_array();
}

}  // namespace

std::string plan_json(const Plan& plan, std::span<const EntryTime> times, bool with_decisions) {
  JsonWriter j;
  j.begin_object();
  write_summary(j, plan.summary, plan.program);
  write_collectives(j, plan.program);
  write_ports(j, plan.program);
  write_fused_groups(j, plan.program);
  write_recomputation(j, plan, times);
  write_memory(j, plan.summary);
  const ProgramCost lowered = program_cost(plan.program);
  j.key("program").begin_object().member("us", lowered.us);
  j.member("collectives", lowered.collectives_us);
  j.key("by_basis").begin_object();
  for (size_t b = 0; b < kNumPriceBases; ++b)
    if (lowered.by_basis_us[b] > 0)
      j.member(basis_name(static_cast<PriceBasis>(b)), lowered.by_basis_us[b]);
  j.end_object();
  write_times(j, plan.program, times);
  j.end_object();
  j.member("steps", plan.program.steps.size());
  write_symbols(j, plan.program);
  write_entries(j, plan.program);
  if (with_decisions) write_decisions(j, plan.summary);
  return j.end_object().take();
}

}  // namespace shw
