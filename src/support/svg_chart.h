// An x-y chart as SVG: two linear axes with round ticks, curves and marks.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shw {

class SvgChart {
 public:
  struct Text {
    std::string title, subtitle, note;  // the note is at the right, above the chart
    std::string x_axis, y_axis;
  };
  struct Range {
    double low, high;  // an axis may extend further, to a round number
  };
  using Point = std::pair<double, double>;

  SvgChart(const Text& text, Range x, Range y);

  static constexpr const char* kInk = "#2563a8";
  // Line segments; `label` is placed at the last point, below existing labels.
  void curve(std::span<const Point> points, const char* colour, const std::string& label,
             bool dashed = false);
  // A step curve: each point's height extends to the next point, the last one's to the axis end.
  void stairs(std::span<const Point> points);
  void whisker(Point from, double to_y);  // clipped at the axis end
  // `title` is shown as a tooltip.
  void mark(Point at, bool filled, const std::string& title, const char* colour = kInk);

  std::string take() { return std::move(text_) + "</svg>\n"; }

 private:
  struct Axis {
    double low, high, step;
    double from, to;  // in pixels
    static Axis of(Range range, double from, double to);
    int ticks() const;
    double value(int tick) const { return low + tick * step; }
    double pixel(double value) const { return from + (value - low) / (high - low) * (to - from); }
    int digits() const;  // after the decimal point, to distinguish ticks
  };
  void label(double x, double y, const char* anchor, const std::string& what,
             const std::string& more = "");
  void line(double x0, double y0, double x1, double y1, const char* stroke);
  void grid(const Text& text);

  Axis x_, y_;
  std::vector<double> curve_labels_;  // heights in pixels
  std::string text_;
};

}  // namespace shw
