// A comparison as a chart: a bar per plan, with compute time and exposed communication.
#include <algorithm>

#include "compare/compare.h"
#include "plan/report.h"
#include "support/format.h"

namespace shw::compare {
namespace {

constexpr double kWidth = 760, kRow = 34, kTop = 74, kLeft = 110, kBar = 430;

constexpr const char* kStyle =
    "<style>text{font:12px sans-serif;fill:#333}.title{font-size:15px;font-weight:bold}"
    ".paper{fill:#fff}.compute{fill:#2563a8}.exposed{fill:#e08a3c}.other{fill:#999}.pale{fill:#777}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.paper{fill:#1b1d20}.compute{fill:#6aa5e6}"
    ".exposed{fill:#e8a765}.pale{fill:#999}}</style>\n";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string label(double x, double y, const char* kind, const std::string& text) {
  return format("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, kind) + escaped(text) +
         "</text>\n";
}

std::string bar(double x, double y, double width, const char* kind) {
  return format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"16\" class=\"%s\"/>\n", x, y,
                std::max(width, 0.0), kind);
}

std::string row_bars(const Row& row, double y, double us_per_pixel) {
  const Figures& f = row.figures;
  const double compute = f.compute_us / us_per_pixel, exposed = f.exposed_us / us_per_pixel;
  const double all = f.step_us / us_per_pixel;
  return "<g><title>" + escaped(row.title + ": " + row.difference) + "</title>\n" +
         bar(kLeft, y, all, "other") + bar(kLeft, y, compute, "compute") +
         bar(kLeft + compute, y, std::min(exposed, all - compute), "exposed") + "</g>\n" +
         label(kLeft + all + 6, y + 12, "",
               format("%.3f ms, %s", f.step_us / 1e3, human_bytes(f.peak_bytes).c_str()));
}

}  // namespace

std::string to_svg(const Table& table) {
  const double height = kTop + kRow * static_cast<double>(table.rows.size()) + 10;
  double longest = 1e-9;
  for (const Row& row : table.rows) longest = std::max(longest, row.figures.step_us);
  std::string t = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
      "%.0f\">\n",
      kWidth, height, kWidth, height);
  t += kStyle;
  t += "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n";
  t += label(16, 24, "title", "Simulated step by plan");
  t += label(16, 42, "pale", "mesh " + table.mesh + ", " + table.hardware);
  t += bar(16, 52, 16, "compute") + label(38, 65, "", "compute");
  t += bar(110, 52, 16, "exposed") + label(132, 65, "", "exposed communication");
  t += label(300, 65, "pale", "at the bar: step, peak memory of a rank");
  double y = kTop + 6;
  for (const Row& row : table.rows) {
    t += label(16, y + 12, "", row.name);
    t += row.has_plan() ? row_bars(row, y, longest / kBar)
                        : label(kLeft, y + 12, "pale", "does not apply: " + row.why_not);
    y += kRow;
  }
  return t + "</svg>\n";
}

}  // namespace shw::compare
