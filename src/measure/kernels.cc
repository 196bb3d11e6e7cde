#include "measure/kernels.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "measure/kernel_cases.h"

namespace shw::measure {
namespace {

using cost::Basis;
using cost::KernelTimes;

constexpr int64_t kElements[] = {64, 2048, 32768, 524288};  // up to 2 MiB of f32
constexpr int64_t kRows[] = {4, 32, KernelTimes::kLongRow};
constexpr int64_t kMostElements = 524288, kSlowElements = 32768;
constexpr int64_t kProductSizes[] = {4, 16, 64, 256, 1024};
constexpr int64_t kKeys[] = {16, 64, 256, 1024}, kWidths[] = {8, 32, 128};
constexpr int64_t kRateSize = 256;  // of a square product, where only a rate is asked for

// Steps are timed among others of their size, by the bytes of their results.
constexpr int64_t kClassBytes[] = {1 << 12, 1 << 15, 1 << 18, INT64_MAX};

// As programs go from one kernel to another, so do the entries: no step follows its like.
class Kernels {
 public:
  Kernels() : maker_({{"rank", 1}}, kMostElements * 16, kMostElements * 16) {}

  void add(const MeasuredKernel& kernel) {
    const size_t table =
        begin(kernel.key, kernel.dtype, {{}, {std::begin(kRows), std::end(kRows)}});
    for (const int64_t n : kElements) {
      if (kernel.is_slow && n > kSlowElements) return;
      for (const int64_t row : kRows) {
        const KernelCase c = kernel.make(kernel, maker_, {n, std::min(n, row)});
        if (row == kRows[0]) tables_[table].sizes[0].push_back(c.elements);
        add_point(c, table);
      }
    }
  }
  void add_products() {
    const std::vector<int64_t> axis(std::begin(kProductSizes), std::end(kProductSizes));
    const size_t table = begin("mm", Dtype::kF32, {axis, axis, axis});
    for (const int64_t m : axis)
      for (const int64_t n : axis)
        for (const int64_t k : axis) add_point(product_case(maker_, Dtype::kF32, m, n, k), table);
  }
  void add_attention(std::string_view key, bool backward, bool causal) {
    const size_t table =
        begin(key, Dtype::kF32,
              {{std::begin(kKeys), std::end(kKeys)}, {std::begin(kWidths), std::end(kWidths)}});
    for (const int64_t keys : kKeys)
      for (const int64_t width : kWidths)
        add_point(attention_case(maker_, backward, causal, keys, width), table);
  }
  // A product as large, or a launch that does next to nothing: the caller reads the last table.
  void add_rate(Dtype dtype) {
    add_point(product_case(maker_, dtype, kRateSize, kRateSize, kRateSize),
              begin("", dtype, {{kRateSize}}));
  }
  void add_launch() {
    ProbeMaker::Step c;
    const TensorType one = row_major(Dtype::kF32, {1});
    c.step.kernel = "neg";
    c.step.inputs = {maker_.operand(Source::kFirst, one)};
    c.results = {one};
    add_point(c, begin("", Dtype::kF32, {{1}}));
  }

  // The tables, in the order in which they were begun.
  Result<std::vector<KernelTimes>> run() {
    std::vector<std::vector<size_t>> classes(std::size(kClassBytes));
    for (size_t i = 0; i < points_.size(); ++i) classes[class_of(points_[i].step)].push_back(i);
    std::vector<size_t> entries;
    for (std::vector<size_t>& members : classes) {
      members = mixed(members);
      std::vector<ProbeMaker::Step> steps;
      for (const size_t i : members) steps.push_back(points_[i].step);
      entries.push_back(maker_.add_entry(steps));
    }
    SHW_ASSIGN_OR_RETURN(Probe probe, Probe::create(maker_, kTableRows));
    std::vector<double> us(points_.size());
    for (size_t c = 0; c < classes.size(); ++c) {
      SHW_ASSIGN_OR_RETURN(const std::vector<double> times, probe.step_us(entries[c]));
      for (size_t i = 0; i < times.size(); ++i) us[classes[c][i]] = times[i];
    }
    for (size_t i = 0; i < points_.size(); ++i) tables_[points_[i].table].us.push_back(us[i]);
    return std::move(tables_);
  }

 private:
  struct Point {
    ProbeMaker::Step step;
    size_t table;
  };
  static size_t class_of(const ProbeMaker::Step& step) {
    int64_t bytes = 0;
    for (const TensorType& type : step.results) bytes += type.bytes();
    size_t c = 0;
    while (bytes > kClassBytes[c]) ++c;
    return c;
  }
  // In steps of about the golden ratio.
  static std::vector<size_t> mixed(const std::vector<size_t>& members) {
    std::vector<size_t> order(members.size());
    size_t stride = members.size() * 5 / 8;
    while (stride > 1 && std::gcd(stride, members.size()) != 1) --stride;
    for (size_t i = 0; i < members.size(); ++i)
      order[i] = members[i * std::max<size_t>(stride, 1) % members.size()];
    return order;
  }
  size_t begin(std::string_view key, Dtype dtype, std::vector<std::vector<int64_t>> sizes) {
    tables_.push_back({std::string(key), dtype, std::move(sizes), {}});
    return tables_.size() - 1;
  }
  void add_point(const ProbeMaker::Step& step, size_t table) { points_.push_back({step, table}); }

  ProbeMaker maker_;
  std::vector<KernelTimes> tables_;
  std::vector<Point> points_;
};

}  // namespace

Status measure_kernels(cost::DeviceSpec& device, std::vector<cost::FigureBasis>& bases) {
  Kernels kernels;
  for (const MeasuredKernel& kernel : measured_kernels()) kernels.add(kernel);
  kernels.add_products();
  kernels.add_attention("sdpa", false, false);
  kernels.add_attention("sdpa.causal", false, true);
  kernels.add_attention("sdpa_backward", true, false);
  kernels.add_attention("sdpa_backward.causal", true, true);
  constexpr Dtype kTypes[] = {Dtype::kF64, Dtype::kF32, Dtype::kF16, Dtype::kBF16};
  double* const rates[] = {&device.flops_f64, &device.flops_f32, &device.flops_f16,
                           &device.flops_bf16};
  for (const Dtype dtype : kTypes) kernels.add_rate(dtype);
  kernels.add_launch();
  SHW_ASSIGN_OR_RETURN(device.kernels, kernels.run());

  const auto take_last = [&] {
    const double us = device.kernels.back().us[0];
    device.kernels.pop_back();
    return us;
  };
  device.launch_us = take_last();
  for (size_t i = std::size(rates); i-- > 0;)
    *rates[i] = 2.0 * kRateSize * kRateSize * kRateSize / take_last() * 1e6;
  const KernelTimes* copy = cost::times_of(device.kernels, "local_slice", Dtype::kF32);
  device.memory_bytes_per_s =
      2.0 * 4 * static_cast<double>(copy->sizes[0].back()) / copy->us.back() * 1e6;
  device.efficiency = 1;  // these are rates that were reached
  device.flops_i8 = 0;    // no kernel multiplies 8-bit integers
  for (const char* figure :
       {"device.memory_bytes_per_s", "device.launch_us", "device.flops_per_s.f64",
        "device.flops_per_s.f32", "device.flops_per_s.f16", "device.flops_per_s.bf16"})
    bases.push_back({figure, Basis::kMeasured});
  return {};
}

}  // namespace shw::measure
