// grouped_mm (runtime/grouped_shape.h), group by group.
#include <algorithm>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/rows.h"
#include "runtime/grouped_shape.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class GroupedMm final : public HostKernel {
 public:
  GroupedMm(const KernelArgs& args, const GroupedShape& shape)
      : out_type_(*args.outputs[0]),
        a_(dense_type<T>(*args.inputs[0]), *args.inputs[0]),
        b_(dense_type<T>(*args.inputs[1]), *args.inputs[1]),
        c_(out_type_, dense_type<T>(out_type_)),
        a_shape_(args.inputs[0]->shape),
        b_shape_(args.inputs[1]->shape),
        shape_(shape),
        output_(args.inputs.size()) {
    if (!shape.has_offsets) return;
    const TensorType& offsets = *args.inputs[2];
    load_ = load_row<Int>(offsets.dtype);
    step_ = offsets.strides[0] * dtype_size(offsets.dtype);
  }
  int64_t workspace_bytes() const override {
    return (numel(a_shape_) + numel(b_shape_) + numel(out_type_.shape) + scratch_elements()) *
           static_cast<int64_t>(sizeof(T));
  }
  Status compute(void* const* buffers) override {
    T* a = static_cast<T*>(buffers[output_ + 1]);
    T* b = a + numel(a_shape_);
    T* c = b + numel(b_shape_);
    T* scratch = scratch_elements() > 0 ? c + numel(out_type_.shape) : nullptr;
    a_.run(a, buffers[0]);
    b_.run(b, buffers[1]);
    std::fill_n(c, numel(out_type_.shape), T{0});
    // Offsets refer to all groups. Without offsets only this rank's groups matter.
    const TablePart& groups = shape_.groups;
    const int64_t first = load_ != nullptr ? 0 : groups.first;
    const int64_t last = load_ != nullptr ? groups.whole : groups.first + groups.own;
    int64_t begin = 0;
    for (int64_t g = first; g < last; ++g) {
      int64_t end = 0;
      if (load_ != nullptr) {
        Int offset;
        load_(static_cast<const std::byte*>(buffers[2]) + g * step_, 0, 1, &offset);
        end = offset.v;
        if (end < begin || end > shape_.ragged())
          return Status(Code::kOutOfRange, "group " + std::to_string(g) + " ends at " +
                                               std::to_string(end) + " of " +
                                               std::to_string(shape_.ragged()));
      }
      if (groups.has(g)) {
        Gemm<T> one = product(groups.position(g), begin, end, a, b, c);
        one.scratch = scratch;
        if (one.m > 0 && one.n > 0 && one.k > 0) gemm(one);
      }
      begin = end;
    }
    c_.run(buffers[output_], c);
    return {};
  }

 private:
  static int64_t numel(const Dims& shape) {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    return n;
  }
  // `g`: number of the group among this rank's groups.
  Gemm<T> product(int64_t g, int64_t begin, int64_t end, const T* a, const T* b, T* c) const {
    const int64_t m = a_shape_[a_shape_.size() - 2], k = a_shape_.back(), n = b_shape_.back();
    const int64_t size = end - begin;
    Gemm<T> result{m, n, shape_.depth, {a, k, 1}, {b, n, 1}, {c, n, 1}};
    if (shape_.a_by_group) result.a.data += g * m * k;
    if (shape_.b_by_group) result.b.data += g * k * n;
    if (shape_.a_by_group == shape_.b_by_group) result.c.data += g * m * n;
    if (!shape_.a_by_group && shape_.b_by_group) {  // rows
      result.m = size;
      result.a.data += begin * k;
      result.c.data += begin * n;
    } else if (shape_.a_by_group && !shape_.b_by_group) {  // columns
      result.n = size;
      result.b.data += begin;
      result.c.data += begin;
    } else if (!shape_.a_by_group) {  // terms
      result.k = size;
      result.a.data += begin;
      result.b.data += begin * n;
    }
    return result;
  }
  // Sized as if one group had all rows, columns or terms.
  int64_t scratch_elements() const {
    return gemm_scratch(product(0, 0, shape_.ragged(), nullptr, nullptr, nullptr));
  }

  TensorType out_type_;
  StridedCast a_, b_, c_;  // into the workspace, and out of it
  Dims a_shape_, b_shape_;
  GroupedShape shape_;
  size_t output_;
  int64_t step_ = 0;
  LoadRow<Int> load_ = nullptr;  // of an offset; null: there are none
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const GroupedShape shape, grouped_shape(args));
  if (args.outputs[0]->dtype == Dtype::kF64) return make_kernel<GroupedMm<double>>(args, shape);
  return make_kernel<GroupedMm<float>>(args, shape);
}

}  // namespace

extern const Kernel kGroupedMm;
constinit const Kernel kGroupedMm = {"grouped_mm", prepare};

}  // namespace shw::runtime::cpu
