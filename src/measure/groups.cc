#include "measure/groups.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "measure/kernel_cases.h"
#include "measure/probe.h"

namespace shw::measure {
namespace {

using cost::KernelTimes;

// The steps that a device can compile into one loop: formulas of the values at one place, and sums
// of rows.
constexpr std::string_view kFormulas[] = {"neg",
                                          "relu",
                                          "abs",
                                          "exp",
                                          "tanh",
                                          "erf",
                                          "cos",
                                          "sin",
                                          "sqrt",
                                          "rsqrt",
                                          "reciprocal",
                                          "sigmoid",
                                          "silu",
                                          "gelu",
                                          "pow",
                                          "clamp",
                                          "add",
                                          "sub",
                                          "mul",
                                          "div",
                                          "maximum",
                                          "minimum",
                                          "gelu_backward",
                                          "silu_backward",
                                          "sigmoid_backward",
                                          "tanh_backward",
                                          "threshold_backward"};
constexpr std::string_view kSums[] = {"sum", "mean"};
constexpr std::string_view kCasts[] = {"convert_element_type", "dtype_cast"};  // f32 and bf16
constexpr Dtype kTypes[] = {Dtype::kF32, Dtype::kBF16};

constexpr int64_t kChainElements[] = {1024, 32768};
// Shorter rows that are not contiguous take as long as vectors.
constexpr int64_t kChainRows[] = {4, 32, KernelTimes::kLongRow};
constexpr int64_t kChainSlices = 4;
// The time of a step is the difference between a long and a short chain, divided by the difference
// of their lengths.
constexpr int64_t kShort = 2, kLong = 8;
constexpr double kLeastStepUs = 1e-4;  // if the clock shows no difference

MeasuredKernel kernel_of(std::string_view key, Dtype dtype) {
  MeasuredKernel kernel = *std::ranges::find_if(measured_kernels(), [&](const MeasuredKernel& k) {
    return k.key == key && k.dtype == Dtype::kF32;
  });
  kernel.dtype = dtype;
  return kernel;
}

// Groups of one entry. The last step of each has the only result that others may read.
class GroupMaker {
 public:
  explicit GroupMaker(ProbeMaker& maker) : maker_(maker), p_(maker.program()) {
    ProgramEntry& entry = p_.entries.emplace_back();
    entry.name = std::to_string(p_.entries.size() - 1);
    entry.first_step = static_cast<uint32_t>(p_.steps.size());
  }

  // Adds `links` steps of a kernel. Their results are added up, so that steps do not depend on each
  // other, as groups usually have other work. Sums of rows do depend on each other, as in norms:
  // the row is multiplied by its sum, and summed again. A cast is followed by a cast back; both
  // count as steps.
  void add_chain(const MeasuredKernel& kernel, const Extent& extent, int64_t links) {
    KernelCase link = kernel.make(kernel, maker_, extent);
    const TensorType whole = row_major(kernel.dtype, extent.matrix());
    const bool is_sum = link.results[0].shape != whole.shape,
               is_cast = link.results[0].dtype != whole.dtype;
    const auto first_step = static_cast<uint32_t>(p_.steps.size());
    used_ = 0;
    ValueId last = maker_.operand(Source::kFirst, whole);
    for (int64_t i = 0; i < links; ++i) {
      if (is_sum) link.step.inputs[0] = last;
      ProgramStep join;
      join.kernel = is_sum ? "mul" : "add";
      ValueId made = add(link.step, link.results[0], false);
      if (is_cast) {
        ProgramStep back = link.step;
        back.inputs = {made};
        back.attrs.set(AttrKey::kDtype, kernel.dtype);
        made = add(back, whole, false);
      }
      join.inputs = {last, made};
      last = add(join, whole, i == links - 1);
    }
    const auto steps = static_cast<uint32_t>(p_.steps.size()) - first_step;
    p_.fused_groups.push_back({first_step, steps, whole.shape, {kChainSlices}});
    p_.group_bytes = std::max(p_.group_bytes, used_);
    p_.arena_bytes = p_.live_peak_bytes = std::max(p_.arena_bytes, used_);
    p_.entries.back().num_steps += steps;
  }

 private:
  ValueId add(ProgramStep step, const TensorType& result, bool is_last) {
    const StorageKind kind = is_last ? StorageKind::kArena : StorageKind::kGroup;
    const StorageId storage = p_.storages.push_back({result.bytes(), kind, UINT32_MAX, used_});
    const ValueId value = p_.values.push_back({result, storage, 0});
    used_ += padded_bytes(p_, result.bytes());
    step.outputs = {value};
    p_.steps.push_back(std::move(step));
    return value;
  }

  ProbeMaker& maker_;
  Program& p_;
  int64_t used_ = 0;
};

bool is_sum(const KernelTimes& table) {
  return std::ranges::any_of(kSums, [&](std::string_view key) {
    return table.kernel == std::string(key) + std::string(KernelTimes::kFused);
  });
}

// The tables without times. For each point, adds a short and a long chain.
std::vector<KernelTimes> tables_of(GroupMaker& groups) {
  std::vector<KernelTimes> tables;
  const auto add_table = [&](std::string_view key, Dtype dtype) {
    tables.push_back({std::string(key) + std::string(KernelTimes::kFused),
                      dtype,
                      {{std::begin(kChainElements), std::end(kChainElements)},
                       {std::begin(kChainRows), std::end(kChainRows)}},
                      {}});
    for (const int64_t n : kChainElements)
      for (const int64_t row : kChainRows)
        for (const int64_t links : {kShort, kLong})
          groups.add_chain(kernel_of(key, dtype), {n, row}, links);
  };
  for (const Dtype dtype : kTypes)
    for (const std::string_view key : kFormulas) add_table(key, dtype);
  for (const std::string_view key : kCasts) add_table(key, Dtype::kF32);
  for (const std::string_view key : kSums) add_table(key, Dtype::kF32);
  return tables;
}

// Subtracts the time of the steps that join the links of a chain, a share of another table.
void take_off(std::vector<KernelTimes>& tables, bool of_sums, std::string_view joining, Dtype dtype,
              double share) {
  const std::string key = std::string(joining) + std::string(KernelTimes::kFused);
  const KernelTimes join = *cost::find_times(tables, key, dtype);
  for (KernelTimes& table : tables) {
    if (is_sum(table) != of_sums || table.dtype != dtype) continue;
    for (size_t i = 0; i < table.us.size(); ++i)
      table.us[i] = std::max(table.us[i] - share * join.us[i], kLeastStepUs);
  }
}

// A link of casts is a cast and the cast back; each is assumed to take half of the time.
void share_casts(std::vector<KernelTimes>& tables) {
  for (const std::string_view key : kCasts) {
    const std::string name = std::string(key) + std::string(KernelTimes::kFused);
    KernelTimes& both = *std::ranges::find(tables, name, &KernelTimes::kernel);
    for (double& us : both.us) us = std::max(us / 2, kLeastStepUs);
    KernelTimes back = both;
    back.dtype = Dtype::kBF16;
    tables.push_back(std::move(back));
  }
}

}  // namespace

Result<std::vector<KernelTimes>> measure_groups() {
  constexpr int64_t kBytes = kChainElements[std::size(kChainElements) - 1] * 4;
  ProbeMaker maker({{"rank", 1}}, 2 * kBytes, kBytes);
  GroupMaker groups(maker);
  std::vector<KernelTimes> tables = tables_of(groups);
  SHW_ASSIGN_OR_RETURN(Probe probe, Probe::create(maker, 1));
  SHW_ASSIGN_OR_RETURN(const std::vector<double> us, probe.step_us(0));
  size_t next = 0;
  for (KernelTimes& table : tables) {
    size_t points = 1;
    for (const auto& axis : table.sizes) points *= axis.size();
    for (size_t i = 0; i < points; ++i, next += 2)
      table.us.push_back(std::max((us[next + 1] - us[next]) / (kLong - kShort), kLeastStepUs));
  }
  for (const Dtype dtype : kTypes)
    take_off(tables, false, "add", dtype, 0.5);  // a link of its own chain has two of them
  take_off(tables, true, "mul", Dtype::kF32, 1);
  share_casts(tables);
  return tables;
}

}  // namespace shw::measure
