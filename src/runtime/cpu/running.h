// Running sums and products along a dim; reals in f64, integers in int64.
#pragma once
#include <algorithm>
#include <type_traits>

#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/rows.h"
#include "runtime/lines.h"

namespace shw::runtime::cpu {

// T: the type in which elements are loaded and stored. Join: combines two values.
template <class T, class Join>
class Running final : public HostKernel {
 public:
  Running(const KernelArgs& args, const Lines<2>& lines)
      : lines_(lines),
        load_(load_row<T>(args.inputs[0]->dtype)),
        store_(store_row<T>(args.outputs[0]->dtype)),
        output_(args.inputs.size()) {}
  Status compute(void* const* buffers) noexcept override {
    const auto* in = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for_each_offset(lines_.places, lines_.strides, [&](const std::array<int64_t, 2>& at) {
      Room<T, kChunk> row;
      Wide so_far{};
      for (int64_t i = 0; i < lines_.count[0]; i += kChunk) {
        const int64_t n = std::min(kChunk, lines_.count[0] - i);
        load_(in + at[0] + i * lines_.step[0], lines_.step[0], n, row);
        for (int64_t j = 0; j < n; ++j) {
          const auto x = static_cast<Wide>(row[j]);
          so_far = i + j == 0 ? x : Join{}(so_far, x);
          row[j] = static_cast<T>(so_far);
        }
        store_(row, n, out + at[1] + i * lines_.step[1], lines_.step[1]);
      }
    });
    return {};
  }

 private:
  static constexpr int64_t kChunk = 256;
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
  Lines<2> lines_;
  LoadRow<T> load_;
  StoreRow<T> store_;
  size_t output_;
};

template <class Join>
Prepared prepare_running(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const std::array<const TensorType*, 2> tensors{args.inputs[0], args.outputs[0]};
  SHW_ASSIGN_OR_RETURN(const Lines<2> lines, lines_along(args.attrs, 0, tensors));
  if (lines.count[0] != lines.count[1])
    return bad_types(to_string(*tensors[0]) + " and " + to_string(*tensors[1]) +
                     " have different sizes in the dim that the kernel works along");
  return with_compute_type(args.outputs[0]->dtype, [&](auto t) -> Prepared {
    return make_kernel<Running<decltype(t), Join>>(args, lines);
  });
}

}  // namespace shw::runtime::cpu
