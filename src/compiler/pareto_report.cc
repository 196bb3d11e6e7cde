// Time against memory as a table, as JSON and as a chart.
#include <algorithm>

#include "compiler/pareto.h"
#include "plan/report.h"
#include "support/format.h"
#include "support/json_writer.h"
#include "support/svg_chart.h"

namespace shw {
namespace {

double gib(double bytes) { return bytes / 0x1p30; }
double ms(double us) { return us / 1e3; }

double gap(const Placed& p) {
  return p.objective_us > 0 ? (p.objective_us - p.bound_us) / p.objective_us : 0;
}

bool is_simulated(const Pareto& pareto) { return pareto.points.front().is_simulated(); }

std::string size_text(double bytes) { return human_bytes(static_cast<int64_t>(bytes)); }
std::string limit_text(const ParetoPoint& point) {
  return point.limit_bytes > 0 ? size_text(point.limit_bytes) : "none";
}
double slower_percent(const Pareto& pareto, const ParetoPoint& point) {
  return 100 * (point.us() / pareto.points.front().us() - 1);
}

std::string priced_rows(const PreparedModel& model, const Pareto& pareto) {
  std::string t = format("%12s %12s %14s %9s %10s %12s  %s\n", "limit", "peak", "step ms", "slower",
                         "gap", "us per GiB", "peak at");
  for (const ParetoPoint& point : pareto.points) {
    const Placed& p = point.placed;
    const std::string proof = p.proven ? "proven" : format("%.1e", gap(p));
    t += format("%12s %12s %14.3f %8.2f%% %10s %12.3f  %s\n", limit_text(point).c_str(),
                size_text(point.bytes()).c_str(), ms(point.us()), slower_percent(pareto, point),
                proof.c_str(), p.memory.price_per_gib, model.graph().name(p.memory.at).c_str());
  }
  return t;
}

// The rows have no gaps and no prices of memory, since these refer to objectives, not to simulated
// times.
std::string simulated_rows(const PreparedModel& model, const Pareto& pareto) {
  std::string t = format("%12s %12s %14s %9s %14s  %s\n", "limit", "memory", "simulated ms",
                         "slower", "at prices ms", "peak at");
  for (const ParetoPoint& point : pareto.points)
    t += format("%12s %12s %14.3f %8.2f%% %14.3f  %s\n", limit_text(point).c_str(),
                size_text(point.bytes()).c_str(), ms(point.us()), slower_percent(pareto, point),
                ms(point.placed.objective_us), model.graph().name(point.placed.memory.at).c_str());
  return t;
}

}  // namespace

std::string pareto_text(const PreparedModel& model, const Pareto& pareto) {
  std::string t = is_simulated(pareto) ? simulated_rows(model, pareto) : priced_rows(model, pareto);
  const LowestPeak& lowest = pareto.lowest;
  t += "lowest peak " + size_text(lowest.reached_bytes);
  if (lowest.least_bytes < lowest.reached_bytes)
    t += " (none below " + size_text(lowest.least_bytes) + ")";
  t += format("; %zu points of %u solves in %.2f s\n", pareto.points.size(), pareto.solves,
              pareto.seconds);
  return t;
}

std::string pareto_json(const PreparedModel& model, const Pareto& pareto) {
  JsonWriter j;
  j.begin_object().member("mesh", model.mesh().to_string());
  j.member("hardware", model.collectives().hardware().name);
  j.member("optimizer_factor", model.options().optimizer_factor);
  j.key("points").begin_array();
  for (const ParetoPoint& point : pareto.points) {
    const Placed& p = point.placed;
    j.begin_object().member("limit_bytes", point.limit_bytes);
    j.member("peak_bytes", p.memory.peak_bytes);
    if (p.memory.program_bytes > 0) j.member("program_bytes", p.memory.program_bytes);
    j.member("at", model.graph().name(p.memory.at)).member("objective", p.objective_us);
    if (point.is_simulated()) j.member("step", point.step_us);
    j.member("bound", p.bound_us).member("proven", p.proven);
    j.member("price_us_per_gib", p.memory.price_per_gib);
    j.member("seconds", p.seconds).end_object();
  }
  j.end_array();
  j.key("lowest_peak").begin_object().member("reached_bytes", pareto.lowest.reached_bytes);
  j.member("least_bytes", pareto.lowest.least_bytes).end_object();
  j.member("solves", pareto.solves).member("seconds", pareto.seconds);
  return j.end_object().take();
}

std::string pareto_svg(const PreparedModel& model, const Pareto& pareto) {
  const bool simulated = is_simulated(pareto);
  std::vector<SvgChart::Point> from_the_least;
  for (const ParetoPoint& p : pareto.points)
    from_the_least.emplace_back(gib(p.bytes()), ms(p.us()));
  std::ranges::reverse(from_the_least);
  const ParetoPoint& first = pareto.points.front();
  const double least_ms = simulated ? ms(first.us()) : ms(first.placed.bound_us);
  SvgChart chart(
      {.title = simulated ? "Simulated step time against memory of one rank"
                          : "Modelled step time against memory of one rank",
       .subtitle =
           format("mesh %s, %s, optimizer factor %g", model.mesh().to_string().c_str(),
                  model.collectives().hardware().name.c_str(), model.options().optimizer_factor),
       .note = simulated ? "the fastest placements found; without a bound"
                         : "filled: proven; open: a line down to the bound",
       .x_axis = simulated ? "memory of a rank, GiB" : "peak memory of a rank, GiB",
       .y_axis = "step time, ms"},
      {from_the_least.front().first, from_the_least.back().first},
      {least_ms, from_the_least.front().second});
  // With a given amount of memory, the best placement known is that of the next point to the left.
  chart.stairs(from_the_least);
  for (const ParetoPoint& point : pareto.points) {
    const SvgChart::Point at(gib(point.bytes()), ms(point.us()));
    if (simulated) {
      chart.mark(at, true, format("%.3f GiB, %.3f ms", at.first, at.second));
      continue;
    }
    const Placed& p = point.placed;
    if (!p.proven) chart.whisker(at, ms(p.bound_us));
    chart.mark(at, p.proven,
               format("%.3f GiB, %.3f ms, bound %.3f ms", at.first, at.second, ms(p.bound_us)));
  }
  return chart.take();
}

}  // namespace shw
