#include "support/svg_chart.h"

#include <gtest/gtest.h>

namespace shw {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++n;
  return n;
}

SvgChart chart(SvgChart::Range x, SvgChart::Range y) {
  return SvgChart({.title = "a < b & c", .subtitle = "", .note = "", .x_axis = "x", .y_axis = "y"},
                  x, y);
}

TEST(SvgChart, EndsAxesOnRoundNumbers) {
  const std::string svg = chart({0, 128}, {3.1, 7.2}).take();
  for (const char* tick : {">0</text>", ">25</text>", ">150</text>", ">3.0</text>", ">8.0</text>"})
    EXPECT_EQ(count(svg, tick), 1u) << tick;
}

TEST(SvgChart, TakesARangeWithoutWidth) {
  EXPECT_EQ(count(chart({5, 5}, {0, 0}).take(), "nan"), 0u);
}

TEST(SvgChart, EscapesText) {
  EXPECT_EQ(count(chart({0, 1}, {0, 1}).take(), "a &lt; b &amp; c"), 1u);
}

TEST(SvgChart, KeepsLabelsOfCurvesApart) {
  SvgChart svg = chart({0, 10}, {0, 10});
  const SvgChart::Point points[] = {{0, 0}, {10, 5}};
  svg.curve(points, "red", "first");
  svg.curve(points, "blue", "second");
  const std::string text = svg.take();
  const auto height = [&](const char* name) {
    const size_t end = text.find(std::string(">") + name + "<");
    const size_t at = text.rfind(" y=\"", end) + 4;
    return std::stod(text.substr(at, end - at));
  };
  EXPECT_GE(height("second") - height("first"), 12);
}

TEST(SvgChart, CutsWhiskersAtTheAxis) {
  SvgChart svg = chart({0, 10}, {2, 8});
  svg.whisker({5, 6}, -100);
  EXPECT_EQ(count(svg.take(), "y2=\"420.0\" stroke=\"#b0503c\""), 1u);
}

}  // namespace
}  // namespace shw
