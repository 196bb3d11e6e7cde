#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "verify/verify_run.h"

namespace shw {
namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", x);
  return text;
}

// Pads to `width`; left-aligned, or right-aligned if `width` is negative.
std::string padded(std::string text, int width) {
  const auto wanted = static_cast<size_t>(std::abs(width));
  if (text.size() < wanted) text.insert(width < 0 ? 0 : text.size(), wanted - text.size(), ' ');
  return text;
}

std::string row(int width, const std::string& name, const std::array<std::string, 5>& cells,
                const std::string& verdict) {
  std::string text = padded(name, width);
  for (const std::string& cell : cells) text += padded(cell, -11);
  return text + "  " + verdict + "\n";
}

std::string verdict_text(const VerifiedTensor& t) {
  const bool own = t.sharded.verdict != Verdict::kRight;
  const Judged& j = own || !t.expected ? t.sharded : *t.expected;
  std::string text(verdict_name(j.verdict));
  if (!own && j.verdict != Verdict::kRight) text = "expected: " + text;
  if (j.different > 0) text += " in " + std::to_string(j.different) + " elements";
  if (t.undecided > 0) text += " (" + std::to_string(t.undecided) + " elements undecided)";
  return text;
}

void write_judged(const Judged& j, JsonWriter& json) {
  json.begin_object().member("verdict", verdict_name(j.verdict));
  json.member("error", j.error).member("limit", j.limit);
  json.member("gain", j.gain).member("gain_limit", j.gain_limit);
  json.member("different_elements", j.different).end_object();
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRight:
      return "right";
    case Verdict::kTooFar:
      return "too far";
    case Verdict::kScaled:
      return "scaled";
    case Verdict::kDifferent:
      return "different";
    case Verdict::kWrongPlan:
      return "wrong plan";
  }
  return "?";
}

std::string to_text(const VerifyReport& report) {
  const std::string title = "distance from the run in f64";
  size_t widest = title.size();
  for (const VerifiedTensor& t : report.tensors) widest = std::max(widest, t.name.size() + 2);
  const int width = static_cast<int>(std::min<size_t>(widest, 100));
  std::string text =
      row(width, title, {"sharded", "unsharded", "limit", "plan", "expected"}, "verdict");
  for (const VerifiedTensor& t : report.tensors)
    text += row(width, "  " + t.name,
                {number(t.sharded.error), number(t.unsharded), number(t.sharded.limit),
                 number(t.plan), t.expected ? number(t.expected->error) : "-"},
                verdict_text(t));
  text += std::to_string(report.tensors.size()) + " tensors, " + std::to_string(report.num_wrong) +
          " wrong";
  if (report.worst_expected >= 0)
    text += "; against expected values, " + std::to_string(report.num_expected_wrong) + " wrong";
  return text + "\n";
}

void write_json(const VerifyReport& report, JsonWriter& json) {
  json.begin_object().member("samples", report.samples);
  json.member("wrong", report.num_wrong).member("expected_wrong", report.num_expected_wrong);
  const auto name = [&](int i) {
    return std::string_view(report.tensors[static_cast<size_t>(i)].name);
  };
  if (report.worst >= 0) json.member("worst", name(report.worst));
  if (report.worst_expected >= 0) json.member("worst_expected", name(report.worst_expected));
  json.key("tensors").begin_array();
  for (const VerifiedTensor& t : report.tensors) {
    json.begin_object().member("name", std::string_view(t.name));
    json.member("type", std::string_view(to_string(t.type))).member("scale", t.scale);
    json.member("unsharded_error", t.unsharded).member("noise", t.noise);
    json.member("plan_error", t.plan).member("undecided_elements", t.undecided);
    write_judged(t.sharded, json.key("sharded"));
    if (t.expected) write_judged(*t.expected, json.key("expected"));
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace shw
