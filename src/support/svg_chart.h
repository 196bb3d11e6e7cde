// Values over values, drawn as SVG: two linear axes with round ticks, curves, and marks.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shw {

class SvgChart {
 public:
  struct Text {
    std::string title, subtitle, note;  // the note stands at the right, over the drawing
    std::string x_axis, y_axis;
  };
  struct Range {
    double low, high;  // the axis may end a little further out, on round numbers
  };
  using Point = std::pair<double, double>;

  SvgChart(const Text& text, Range x, Range y);

  static constexpr const char* kInk = "#2563a8";
  // Straight from point to point; `label` at the last, below the labels that are there already.
  void curve(std::span<const Point> points, const char* colour, const std::string& label,
             bool dashed = false);
  // From each point to the right at its height until the next one; the last as far as the axis.
  void stairs(std::span<const Point> points);
  void whisker(Point from, double to_y);  // cut off where the axis ends
  // `title` is shown when pointed at.
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
    int digits() const;  // after the point, that tell ticks apart
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
