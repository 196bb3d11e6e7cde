#include "runtime/cpu/extreme.h"

#include "runtime/cpu/odometer.h"
#include "runtime/cpu/rows.h"
#include "runtime/search_dims.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class ExtremeKernel final : public HostKernel {
 public:
  ExtremeKernel(const Search& search, Dtype in, Extreme extreme,
                const std::array<const TensorType*, 2>& results)
      : search_(search), extreme_(extreme), load_(load_row<T>(in)) {
    if (results[0]) store_value_ = store_row<T>(results[0]->dtype);
    if (results[1]) store_place_ = store_row<Int>(results[1]->dtype);
  }
  Status compute(void* const* buffers) noexcept override {
    const auto* in = static_cast<const std::byte*>(buffers[0]);
    for_each_offset(search_.kept, search_.kept_strides, [&](const std::array<int64_t, 3>& at) {
      T best{};
      Int place{-1}, number{0};
      for_each_offset(search_.searched, search_.searched_strides,
                      [&](const std::array<int64_t, 1>& inner) {
                        T x;
                        load_(in + at[0] + inner[0], 0, 1, &x);
                        if (place.v < 0 || beats(x, best)) best = x, place = number;
                        ++number.v;
                      });
      if (store_value_) store_value_(&best, 1, static_cast<std::byte*>(buffers[value_]) + at[1], 0);
      if (store_place_)
        store_place_(&place, 1, static_cast<std::byte*>(buffers[place_]) + at[2], 0);
    });
    return {};
  }
  size_t value_ = 1, place_ = 1;  // buffers

 private:
  // NaN is more extreme than every number.
  bool beats(T x, T best) const {
    if constexpr (std::is_floating_point_v<T>)
      if (x != x || best != best) return best == best;
    return extreme_ == Extreme::kLargest ? best < x : x < best;
  }
  Search search_;
  Extreme extreme_;
  LoadRow<T> load_;
  StoreRow<T> store_value_ = nullptr;
  StoreRow<Int> store_place_ = nullptr;
};

// Numbers of the results among the step's outputs; −1: absent.
[[gnu::cold]] Prepared prepare(const KernelArgs& args, Extreme extreme, int value, int place) {
  const auto result = [&](int i) -> const TensorType* {
    return i < 0 ? nullptr : args.outputs[static_cast<size_t>(i)];
  };
  const std::array results{result(value), result(place)};
  SHW_ASSIGN_OR_RETURN(const Search search, search_of(args, results));
  const Dtype in = args.inputs[0]->dtype;
  return with_compute_type(in, [&](auto t) -> Prepared {
    using T = decltype(t);
    if constexpr (std::is_same_v<T, Complex>) {
      return unimplemented("complex numbers have no order");
    } else {
      auto kernel = std::make_unique<ExtremeKernel<T>>(search, in, extreme, results);
      kernel->value_ = static_cast<size_t>(1 + std::max(value, 0));
      kernel->place_ = static_cast<size_t>(1 + std::max(place, 0));
      return std::unique_ptr<HostKernel>(std::move(kernel));
    }
  });
}

}  // namespace

[[gnu::cold]] Prepared prepare_extreme(const KernelArgs& args, Extreme extreme) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1, 0));
  if (args.inputs.size() != 1 || args.outputs.size() != 2 || !args.attrs.has(AttrKey::kDim))
    return bad_types("one tensor gives a value and a place, along a dim");
  return prepare(args, extreme, 0, 1);
}
[[gnu::cold]] Prepared prepare_extreme_index(const KernelArgs& args, Extreme extreme) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  if (args.inputs.size() != 1) return bad_types("one tensor gives a place");
  return prepare(args, extreme, -1, 0);
}

}  // namespace shw::runtime::cpu
