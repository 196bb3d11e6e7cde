#include "runtime/cpu/combine.h"

#include <algorithm>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/lookup.h"
#include "runtime/index_shape.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
bool wins(Combine how, T now, T more) {
  if constexpr (std::is_floating_point_v<T>)
    if (more != more) return true;
  if constexpr (std::is_same_v<T, Complex>)
    return false;
  else
    return how == Combine::kMax ? now < more : more < now;
}

template <class T>
void combine(Combine how, Dtype dtype, const std::byte* from, int64_t from_step, int64_t n,
             std::byte* to, int64_t to_step) {
  constexpr int64_t kCombined = 256;
  const LoadRow<T> load = load_row<T>(dtype);
  const StoreRow<T> store = store_row<T>(dtype);
  Room<T, kCombined> values, before;
  for (; n > 0; n -= kCombined, from += kCombined * from_step, to += kCombined * to_step) {
    const int64_t count = std::min(kCombined, n);
    load(from, from_step, count, values);
    if (how != Combine::kReplace) load(to, to_step, count, before);
    if (how == Combine::kAdd)
      vector_loop(count, [&](int64_t i) { values[i] = before[i] + values[i]; });
    else if (how == Combine::kMultiply)
      for (int64_t i = 0; i < count; ++i) values[i] = before[i] * values[i];
    else if (how != Combine::kReplace)
      for (int64_t i = 0; i < count; ++i)
        if (!wins(how, before[i], values[i])) values[i] = before[i];
    store(values, count, to, to_step);
  }
}

class Scatter final : public HostKernel {
 public:
  Scatter(const KernelArgs& args, const Lookup& lookup, Combine how, CombineRow row)
      : lookup_(lookup),
        ground_(*args.outputs[0], *args.inputs[0]),
        how_(how),
        row_(row),
        dtype_(args.outputs[0]->dtype),
        output_(args.inputs.size()) {}
  Status compute(void* const* buffers) override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    const auto* src = static_cast<const std::byte*>(buffers[2]);
    ground_.run(out, buffers[0]);
    return lookup_.for_each(buffers[1], [&](int64_t to, int64_t from) {
      if (to >= 0) row_(how_, dtype_, src + from, 0, 1, out + to, 0);
    });
  }

 private:
  Lookup lookup_;
  StridedCast ground_;
  Combine how_;
  CombineRow row_;
  Dtype dtype_;
  size_t output_;
};

}  // namespace

CombineRow combine_row(Combine how, Dtype dtype) {
  if (is_complex(dtype) && (how == Combine::kMax || how == Combine::kMin)) return nullptr;
  return with_compute_type(dtype, [](auto t) -> CombineRow { return combine<decltype(t)>; });
}

[[gnu::cold]] Prepared prepare_scatter(const KernelArgs& args, Combine how) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3));
  const TensorType &src = *args.inputs[2], &out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(check_written(args, &src));
  const CombineRow row = combine_row(how, out.dtype);
  if (row == nullptr) return bad_types("complex numbers have no order");
  SHW_ASSIGN_OR_RETURN(const Lookup lookup, lookup_elements(args, out, *args.inputs[1], src));
  return make_kernel<Scatter>(args, lookup, how, row);
}

}  // namespace shw::runtime::cpu
