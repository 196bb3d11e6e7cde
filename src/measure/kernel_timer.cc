#include "measure/kernel_timer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>

namespace shw::measure {
namespace {

// Number of tables whose steps alternate. A model has about twenty kinds of kernels, whose code
// stays in the near caches.
constexpr size_t kTablesInTurn = 20;
constexpr size_t kLaunches = 32;
// Steps are timed among others of their size, by the bytes of their results.
constexpr int64_t kClassBytes[] = {1 << 12, 1 << 15, 1 << 18, INT64_MAX};

size_t class_of(const ProbeMaker::Step& step) {
  int64_t bytes = 0;
  for (const TensorType& type : step.results) bytes += type.bytes();
  size_t c = 0;
  while (bytes > kClassBytes[c]) ++c;
  return c;
}

// Mixes by steps of about the golden ratio.
std::vector<size_t> mixed(const std::vector<size_t>& members) {
  std::vector<size_t> order(members.size());
  size_t stride = members.size() * 5 / 8;
  while (stride > 1 && std::gcd(stride, members.size()) != 1) --stride;
  for (size_t i = 0; i < members.size(); ++i)
    order[i] = members[i * std::max<size_t>(stride, 1) % members.size()];
  return order;
}

}  // namespace

size_t KernelTimer::begin(std::string_view key, Dtype dtype,
                          std::vector<std::vector<int64_t>> sizes) {
  tables_.push_back({std::string(key), dtype, std::move(sizes), {}});
  return tables_.size() - 1;
}

void KernelTimer::add_products(Dtype dtype, const std::vector<int64_t>& axis) {
  for (const ProductTable& t : kProductTables) {
    const size_t table = begin(t.key, dtype, {axis, axis, axis});
    for (const int64_t m : axis)
      for (const int64_t n : axis)
        for (const int64_t k : axis) add_point(product_case(maker_, dtype, t, m, n, k), table);
  }
}

void KernelTimer::add_attention(std::span<const AttentionTable> tables, Dtype dtype,
                                const std::vector<int64_t>& keys,
                                const std::vector<int64_t>& widths, int64_t heads,
                                int64_t queries) {
  for (const AttentionTable& t : tables) {
    const size_t table = begin(t.key, dtype, {keys, widths});
    for (const int64_t n : keys)
      for (const int64_t width : widths) {
        const int64_t together = std::max(heads, queries / n);
        add_point(attention_case(maker_, dtype, t, together, n, width), table, together);
      }
  }
}

void KernelTimer::add_rate(Dtype dtype, int64_t side) {
  add_point(product_case(maker_, dtype, kProductTables[0], side, side, side),
            begin("", dtype, {{side}}));
}

void KernelTimer::add_launch() {
  ProbeMaker::Step c;
  const TensorType one = row_major(Dtype::kF32, {1});
  c.step.kernel = "neg";
  c.step.inputs = {maker_.operand(Source::kFirst, one)};
  c.results = {one};
  launch_point_ = points_.size();
  add_point(c, begin("", Dtype::kF32, {{1}}));
}

Result<std::vector<cost::KernelTimes>> KernelTimer::run(const runtime::RankBackend& backend) {
  const size_t mixes = (tables_.size() + kTablesInTurn - 1) / kTablesInTurn;
  std::vector<std::vector<size_t>> classes(std::size(kClassBytes) * mixes);
  for (size_t i = 0; i < points_.size(); ++i)
    if (i != launch_point_)
      classes[class_of(points_[i].step) * mixes + points_[i].table % mixes].push_back(i);
  std::erase_if(classes, [](const auto& members) { return members.empty(); });
  if (launch_point_) classes.emplace_back(kLaunches, *launch_point_);
  std::vector<size_t> entries;
  for (std::vector<size_t>& members : classes) {
    members = mixed(members);
    std::vector<ProbeMaker::Step> steps;
    for (const size_t i : members) steps.push_back(points_[i].step);
    entries.push_back(maker_.add_entry(steps));
  }
  SHW_ASSIGN_OR_RETURN(Probe probe, Probe::create(maker_, kTableRows, backend));
  std::vector<double> us(points_.size());
  for (size_t c = 0; c < classes.size(); ++c) {
    SHW_ASSIGN_OR_RETURN(const std::vector<double> times, probe.step_us(entries[c]));
    for (size_t i = 0; i < times.size(); ++i) us[classes[c][i]] = times[i];
    us[classes[c][times.size() / 2]] = times[times.size() / 2];  // the median launch
  }
  // A table counts the launch once for each part, as prices do (cost/roofline.h).
  const double launch_us = launch_point_ ? us[*launch_point_] : 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    const Point& p = points_[i];
    const double rest = std::max(us[i] - launch_us, 0.0) / static_cast<double>(p.parts);
    tables_[p.table].us.push_back(p.parts == 1 ? us[i] : launch_us + rest);
  }
  return std::move(tables_);
}

}  // namespace shw::measure
