#include "support/svg_chart.h"

#include <algorithm>
#include <cmath>

#include "support/format.h"

namespace shw {
namespace {

constexpr double kWidth = 760, kHeight = 480;
constexpr double kLeft = 80, kRight = 30, kTop = 64, kBottom = 60;  // margins in pixels
constexpr double kLineHeight = 13;
constexpr const char* kDark = "#333";
constexpr const char* kPale = "#e4e4e4";
constexpr const char* kWarm = "#b0503c";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

}  // namespace

SvgChart::Axis SvgChart::Axis::of(Range range, double from, double to) {
  constexpr double kTicks = 6;
  const auto [low, high] = range;
  const double span = std::max(high - low, 1e-9 * std::max(std::abs(high), 1.0));
  const double raw = span / kTicks, power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double nice : {5.0, 2.5, 2.0, 1.0})
    if (nice * power >= raw) step = nice * power;
  Axis axis{std::floor(low / step) * step, std::ceil(high / step) * step, step, from, to};
  if (axis.high <= axis.low) axis.high = axis.low + step;
  return axis;
}

int SvgChart::Axis::ticks() const { return static_cast<int>(std::lround((high - low) / step)); }

int SvgChart::Axis::digits() const {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) + 0.3)), 0, 6);
}

SvgChart::SvgChart(const Text& text, Range x, Range y)
    : x_(Axis::of(x, kLeft, kWidth - kRight)), y_(Axis::of(y, kHeight - kBottom, kTop)) {
  text_ = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\" fill=\"%s\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, kHeight, kWidth, kHeight, kDark);
  label(kLeft, 24, "start", text.title, " font-size=\"15\" font-weight=\"bold\"");
  label(kLeft, 42, "start", text.subtitle);
  label(kWidth - kRight, 42, "end", text.note);
  grid(text);
}

void SvgChart::grid(const Text& text) {
  for (int t = 0; t <= x_.ticks(); ++t) {
    const double x = x_.pixel(x_.value(t));
    line(x, y_.from, x, y_.to, kPale);
    label(x, y_.from + 18, "middle", format("%.*f", x_.digits(), x_.value(t)));
  }
  for (int t = 0; t <= y_.ticks(); ++t) {
    const double y = y_.pixel(y_.value(t));
    line(x_.from, y, x_.to, y, kPale);
    label(x_.from - 8, y + 4, "end", format("%.*f", y_.digits(), y_.value(t)));
  }
  line(x_.from, y_.from, x_.to, y_.from, kDark);
  line(x_.from, y_.from, x_.from, y_.to, kDark);
  label((x_.from + x_.to) / 2, y_.from + 42, "middle", text.x_axis);
  const double middle = (y_.from + y_.to) / 2;
  label(20, middle, "middle", text.y_axis, format(" transform=\"rotate(-90 20 %.1f)\"", middle));
}

void SvgChart::curve(std::span<const Point> points, const char* colour, const std::string& name,
                     bool dashed) {
  if (points.empty()) return;
  text_ += format("<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s d=\"", colour,
                  dashed ? " stroke-dasharray=\"5 4\"" : "");
  for (size_t i = 0; i < points.size(); ++i)
    text_ += format("%c%.1f %.1f", i == 0 ? 'M' : 'L', x_.pixel(points[i].first),
                    y_.pixel(points[i].second));
  text_ += "\"/>\n";
  if (name.empty()) return;
  double height = y_.pixel(points.back().second) + 4;
  const auto taken = [&](double other) { return std::abs(other - height) < kLineHeight; };
  while (std::ranges::any_of(curve_labels_, taken)) ++height;
  curve_labels_.push_back(height);
  label(x_.pixel(points.back().first) + 6, height, "start", name, format(" fill=\"%s\"", colour));
}

void SvgChart::stairs(std::span<const Point> points) {
  text_ += format("<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", kInk);
  for (size_t i = 0; i < points.size(); ++i) {
    const double x = x_.pixel(points[i].first), y = y_.pixel(points[i].second);
    text_ += i == 0 ? format("M%.1f %.1f", x, y) : format("H%.1fV%.1f", x, y);
  }
  text_ += format("H%.1f\"/>\n", x_.to);
}

void SvgChart::whisker(Point from, double to_y) {
  const double x = x_.pixel(from.first);
  line(x, y_.pixel(from.second), x, std::min(y_.from, y_.pixel(to_y)), kWarm);
}

void SvgChart::mark(Point at, bool filled, const std::string& title, const char* colour) {
  text_ += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\" stroke=\"%s\">",
                  x_.pixel(at.first), y_.pixel(at.second), filled ? colour : "white", colour);
  text_ += "<title>" + escaped(title) + "</title></circle>\n";
}

void SvgChart::label(double x, double y, const char* anchor, const std::string& what,
                     const std::string& more) {
  text_ += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, more.c_str());
  text_ += escaped(what) + "</text>\n";
}

void SvgChart::line(double x0, double y0, double x1, double y1, const char* stroke) {
  text_ += format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0, y0,
                  x1, y1, stroke);
}

}  // namespace shw
