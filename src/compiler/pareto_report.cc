// Time against memory as a table, as JSON, and as a drawing.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "compiler/pareto.h"
#include "support/json_writer.h"

namespace shw {
namespace {

template <class... Args>
std::string format(const char* pattern, Args... args) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, pattern, args...);
  return buffer;
}

double gib(double bytes) { return bytes / 0x1p30; }
double ms(double us) { return us / 1e3; }

double gap(const Placed& p) {
  return p.objective_us > 0 ? (p.objective_us - p.bound_us) / p.objective_us : 0;
}

// A linear axis: values between `low` and `high`, ends on round numbers, on pixels from..to.
struct Axis {
  double low, high, step;
  double from, to;

  static Axis of(double low, double high, double from, double to) {
    constexpr double kTicks = 6;
    const double span = std::max(high - low, 1e-9 * std::max(std::abs(high), 1.0));
    const double raw = span / kTicks, power = std::pow(10, std::floor(std::log10(raw)));
    double step = 10 * power;
    for (const double nice : {5.0, 2.5, 2.0, 1.0})
      if (nice * power >= raw) step = nice * power;
    return {std::floor(low / step) * step, std::ceil(high / step) * step, step, from, to};
  }
  int ticks() const { return static_cast<int>(std::lround((high - low) / step)); }
  double value(int tick) const { return low + tick * step; }
  double pixel(double value) const { return from + (value - low) / (high - low) * (to - from); }
  // Digits after the point that tell ticks apart.
  int digits() const {
    return std::clamp(static_cast<int>(std::ceil(-std::log10(step) + 0.3)), 0, 6);
  }
};

class Drawing {
 public:
  explicit Drawing(const Pareto& pareto) : points_(pareto.points) {
    double least = points_[0].placed.bound_us, most = points_[0].placed.objective_us;
    for (const ParetoPoint& p : points_) most = std::max(most, p.placed.objective_us);
    x_ = Axis::of(gib(points_.back().placed.memory.peak_bytes),
                  gib(points_.front().placed.memory.peak_bytes), kLeft, kWidth - kRight);
    y_ = Axis::of(ms(least), ms(most), kHeight - kBottom, kTop);
  }

  std::string draw(const Planner& planner) {
    text_ = format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        kWidth, kHeight, kWidth, kHeight);
    label(kLeft, 24, "start", "Modelled step time against memory of one rank",
          " font-size=\"15\" font-weight=\"bold\"");
    label(
        kLeft, 42, "start",
        format("mesh %s, %s, optimizer factor %g", planner.mesh().to_string().c_str(),
               planner.collectives().hardware().name.c_str(), planner.options().optimizer_factor));
    label(kWidth - kRight, 42, "end", "filled: proven; open: a line down to the bound");
    grid();
    steps();
    for (const ParetoPoint& p : points_) mark(p.placed);
    return text_ + "</svg>\n";
  }

 private:
  static constexpr double kWidth = 760, kHeight = 480, kLeft = 80, kRight = 30, kTop = 64,
                          kBottom = 60;

  void label(double x, double y, const char* anchor, const std::string& what,
             const char* more = "") {
    text_ += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, more);
    for (const char c : what) text_ += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    text_ += "</text>\n";
  }
  void line(double x0, double y0, double x1, double y1, const char* stroke) {
    text_ += format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0,
                    y0, x1, y1, stroke);
  }

  void grid() {
    for (int t = 0; t <= x_.ticks(); ++t) {
      const double x = x_.pixel(x_.value(t));
      line(x, y_.from, x, y_.to, "#e4e4e4");
      label(x, y_.from + 18, "middle", format("%.*f", x_.digits(), x_.value(t)));
    }
    for (int t = 0; t <= y_.ticks(); ++t) {
      const double y = y_.pixel(y_.value(t));
      line(x_.from, y, x_.to, y, "#e4e4e4");
      label(x_.from - 8, y + 4, "end", format("%.*f", y_.digits(), y_.value(t)));
    }
    line(x_.from, y_.from, x_.to, y_.from, "#333");
    line(x_.from, y_.from, x_.from, y_.to, "#333");
    label((x_.from + x_.to) / 2, y_.from + 42, "middle", "peak memory of a rank, GiB");
    const double middle = (y_.from + y_.to) / 2;
    label(20, middle, "middle", "step time, ms",
          format(" transform=\"rotate(-90 20 %.1f)\"", middle).c_str());
  }

  // With so much memory, the cheapest known placement is that of the next point to the left.
  void steps() {
    text_ += "<path fill=\"none\" stroke=\"#2563a8\" stroke-width=\"1.5\" d=\"";
    for (size_t i = points_.size(); i-- > 0;) {
      const double x = x_.pixel(gib(points_[i].placed.memory.peak_bytes));
      const double y = y_.pixel(ms(points_[i].placed.objective_us));
      text_ += i + 1 == points_.size() ? format("M%.1f %.1f", x, y) : format("H%.1fV%.1f", x, y);
    }
    text_ += format("H%.1f\"/>\n", x_.to);
  }

  // Filled: proven. Else a whisker down to the bound.
  void mark(const Placed& p) {
    const double x = x_.pixel(gib(p.memory.peak_bytes)), y = y_.pixel(ms(p.objective_us));
    if (!p.proven) line(x, y, x, std::min(y_.from, y_.pixel(ms(p.bound_us))), "#b0503c");
    text_ += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\" stroke=\"#2563a8\">", x,
                    y, p.proven ? "#2563a8" : "white");
    text_ += format("<title>%.3f GiB, %.3f ms, bound %.3f ms</title></circle>\n",
                    gib(p.memory.peak_bytes), ms(p.objective_us), ms(p.bound_us));
  }

  const std::vector<ParetoPoint>& points_;
  Axis x_{}, y_{};
  std::string text_;
};

}  // namespace

std::string pareto_text(const Planner& planner, const Pareto& pareto) {
  std::string t = format("%10s %10s %14s %9s %10s %12s  %s\n", "limit GiB", "peak GiB", "step ms",
                         "slower", "gap", "us per GiB", "peak at");
  const double fastest = pareto.points.front().placed.objective_us;
  for (const ParetoPoint& point : pareto.points) {
    const Placed& p = point.placed;
    const std::string limit =
        point.limit_bytes > 0 ? format("%.3f", gib(point.limit_bytes)) : "none";
    const std::string proof = p.proven ? "proven" : format("%.1e", gap(p));
    t += format("%10s %10.3f %14.3f %8.2f%% %10s %12.3f  %s\n", limit.c_str(),
                gib(p.memory.peak_bytes), ms(p.objective_us), 100 * (p.objective_us / fastest - 1),
                proof.c_str(), p.memory.price_per_gib, planner.graph().name(p.memory.at).c_str());
  }
  const std::string reached = format("%.3f", gib(pareto.lowest.reached_bytes));
  const std::string least = format("%.3f", gib(pareto.lowest.least_bytes));
  t += format("lowest peak %s GiB%s; %zu points of %u solves in %.2f s\n", reached.c_str(),
              least == reached ? "" : (" (none below " + least + ")").c_str(), pareto.points.size(),
              pareto.solves, pareto.seconds);
  return t;
}

std::string pareto_json(const Planner& planner, const Pareto& pareto) {
  JsonWriter j;
  j.begin_object().member("mesh", planner.mesh().to_string());
  j.member("hardware", planner.collectives().hardware().name);
  j.member("optimizer_factor", planner.options().optimizer_factor);
  j.key("points").begin_array();
  for (const ParetoPoint& point : pareto.points) {
    const Placed& p = point.placed;
    j.begin_object().member("limit_bytes", point.limit_bytes);
    j.member("peak_bytes", p.memory.peak_bytes);
    j.member("at", planner.graph().name(p.memory.at)).member("objective", p.objective_us);
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

std::string pareto_svg(const Planner& planner, const Pareto& pareto) {
  return Drawing(pareto).draw(planner);
}

}  // namespace shw
