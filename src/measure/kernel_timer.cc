#include "measure/kernel_timer.h"

#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>

#include "measure/kernel_cases.h"

namespace shw::measure {
namespace {

// Steps are timed among others of their size, by the bytes of their results.
constexpr int64_t kClassBytes[] = {1 << 12, 1 << 15, 1 << 18, INT64_MAX};

size_t class_of(const ProbeMaker::Step& step) {
  int64_t bytes = 0;
  for (const TensorType& type : step.results) bytes += type.bytes();
  size_t c = 0;
  while (bytes > kClassBytes[c]) ++c;
  return c;
}

// In steps of about the golden ratio.
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
  const size_t table = begin("mm", dtype, {axis, axis, axis});
  for (const int64_t m : axis)
    for (const int64_t n : axis)
      for (const int64_t k : axis) add_point(product_case(maker_, dtype, m, n, k), table);
}

void KernelTimer::add_rate(Dtype dtype, int64_t side) {
  add_point(product_case(maker_, dtype, side, side, side), begin("", dtype, {{side}}));
}

void KernelTimer::add_launch() {
  ProbeMaker::Step c;
  const TensorType one = row_major(Dtype::kF32, {1});
  c.step.kernel = "neg";
  c.step.inputs = {maker_.operand(Source::kFirst, one)};
  c.results = {one};
  add_point(c, begin("", Dtype::kF32, {{1}}));
}

Result<std::vector<cost::KernelTimes>> KernelTimer::run(const runtime::RankBackend& backend) {
  std::vector<std::vector<size_t>> classes(std::size(kClassBytes));
  for (size_t i = 0; i < points_.size(); ++i) classes[class_of(points_[i].step)].push_back(i);
  std::erase_if(classes, [](const auto& members) { return members.empty(); });
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
  }
  for (size_t i = 0; i < points_.size(); ++i) tables_[points_[i].table].us.push_back(us[i]);
  return std::move(tables_);
}

}  // namespace shw::measure
