#include "runtime/cpu/ranking.h"

#include <algorithm>

#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/rows.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class Ranking final : public HostKernel {
 public:
  Ranking(const KernelArgs& args, const RankingShape& shape, bool descending)
      : lines_(shape.lines),
        count_(shape.count),
        descending_(descending),
        load_(load_row<T>(args.inputs[0]->dtype)) {
    if (args.outputs[0]) store_value_ = store_row<T>(args.outputs[0]->dtype);
    if (args.outputs[1]) store_place_ = store_row<Int>(args.outputs[1]->dtype);
  }
  // The workspace: a line's elements, their indices, and room for the sorted elements.
  int64_t workspace_bytes() const override {
    return lines_.count[0] * static_cast<int64_t>(2 * sizeof(T) + sizeof(Int) + sizeof(T));
  }
  Status compute(void* const* buffers) noexcept override {
    const int64_t n = lines_.count[0];
    auto* places = static_cast<Int*>(buffers[3]);
    auto* line = reinterpret_cast<T*>(places + n);
    T* values = line + n;
    const auto before = [&](Int a, Int b) {
      const T x = line[a.v], y = line[b.v];
      if (descending_ ? less(y, x) : less(x, y)) return true;
      if (descending_ ? less(x, y) : less(y, x)) return false;
      return a.v < b.v;
    };
    for_each_offset(lines_.places, lines_.strides, [&](const std::array<int64_t, 3>& at) {
      load_(static_cast<const std::byte*>(buffers[0]) + at[0], lines_.step[0], n, line);
      for (int64_t i = 0; i < n; ++i) places[i].v = i;
      std::partial_sort(places, places + count_, places + n, before);
      for (int64_t i = 0; i < count_; ++i) values[i] = line[places[i].v];
      if (store_value_)
        store_value_(values, count_, static_cast<std::byte*>(buffers[1]) + at[1], lines_.step[1]);
      if (store_place_)
        store_place_(places, count_, static_cast<std::byte*>(buffers[2]) + at[2], lines_.step[2]);
    });
    return {};
  }

 private:
  static bool less(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (b != b) return a == a;
    return a < b;
  }
  Lines<3> lines_;  // x, values, places
  int64_t count_;
  bool descending_;
  LoadRow<T> load_;
  StoreRow<T> store_value_ = nullptr;
  StoreRow<Int> store_place_ = nullptr;
};

}  // namespace

[[gnu::cold]] Prepared prepare_ranking(const KernelArgs& args, bool descending) {
  SHW_ASSIGN_OR_RETURN(const RankingShape shape, ranking_shape(args));
  return with_compute_type(args.inputs[0]->dtype, [&](auto t) -> Prepared {
    using T = decltype(t);
    if constexpr (std::is_same_v<T, Complex>)
      return internal_error("the shape refuses complex numbers");
    else
      return make_kernel<Ranking<T>>(args, shape, descending);
  });
}

}  // namespace shw::runtime::cpu
