// Times kernels at the points of tables. All points of similar size are in one entry, in mixed
// order, so that no step follows a step of the same kernel. This resembles real programs.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost/kernel_times.h"
#include "measure/kernel_cases.h"
#include "measure/probe.h"

namespace shw::measure {

class KernelTimer {
 public:
  // Bytes of the first source of operands, and of each of the others.
  KernelTimer(int64_t first_bytes, int64_t other_bytes)
      : maker_({{"rank", 1}}, first_bytes, other_bytes) {}

  ProbeMaker& maker() { return maker_; }
  // Begins a table without points, and returns its number.
  size_t begin(std::string_view key, Dtype dtype, std::vector<std::vector<int64_t>> sizes);
  // Adds the next point of a table. `parts`: how many times the step repeats the work of the point.
  // add_size() adds a size to the table's first axis.
  void add_point(const ProbeMaker::Step& step, size_t table, int64_t parts = 1) {
    points_.push_back({step, table, parts});
  }
  void add_size(size_t table, int64_t size) { tables_[table].sizes[0].push_back(size); }

  // Adds products of all sizes along `axis`, with one table for each memory order of the operands.
  void add_products(Dtype dtype, const std::vector<int64_t>& axis);
  // Adds these tables of attention of one head. Heads are timed together, as in programs: `heads`
  // of them, or more until they have `queries`.
  void add_attention(std::span<const AttentionTable> tables, Dtype dtype,
                     const std::vector<int64_t>& keys, const std::vector<int64_t>& widths,
                     int64_t heads, int64_t queries);
  // Add tables of one point: a square product, and a launch that does almost nothing, after others
  // of its kind. The latter is the minimum time of a step.
  void add_rate(Dtype dtype, int64_t side);
  void add_launch();

  // The tables, in the order in which they were begun.
  Result<std::vector<cost::KernelTimes>> run(const runtime::RankBackend& backend = {});

 private:
  struct Point {
    ProbeMaker::Step step;
    size_t table;
    int64_t parts;
  };

  ProbeMaker maker_;
  std::vector<cost::KernelTimes> tables_;
  std::vector<Point> points_;
  std::optional<size_t> launch_point_;
};

}  // namespace shw::measure
