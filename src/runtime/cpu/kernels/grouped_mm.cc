// grouped_mm(a, b, offsets?): a product for each group; offsets say where each group ends in the
// rows of a, the columns of b, or the terms of the sum. Behind the last group: zeros.
//
// With attributes `size` and `cuts` the tensor with a dim of groups is this rank's piece of a
// larger one, and the rows or columns of groups that lie elsewhere are zeros. The offsets are
// always those of all groups.
#include <algorithm>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/indices.h"

namespace shw::runtime::cpu {
namespace {

// What this rank has of the tensor with a dim of groups.
struct GroupShare {
  int64_t first = 0, own = 0;  // groups
  int64_t depth = 0;           // terms of a sum, without the padding of an uneven piece
};

template <class T>
class GroupedMm final : public HostKernel {
 public:
  GroupedMm(const KernelArgs& args, const GroupShare& share)
      : out_type_(*args.outputs[0]),
        a_(dense_type<T>(*args.inputs[0]), *args.inputs[0]),
        b_(dense_type<T>(*args.inputs[1]), *args.inputs[1]),
        c_(out_type_, dense_type<T>(out_type_)),
        a_shape_(args.inputs[0]->shape),
        b_shape_(args.inputs[1]->shape),
        share_(share),
        has_offsets_(args.inputs.size() > 2 && args.inputs[2] != nullptr),
        output_(args.inputs.size()) {
    if (has_offsets_) {
      groups_ = args.inputs[2]->shape[0];
      load_ = load_row<Int>(args.inputs[2]->dtype);
      step_ = args.inputs[2]->strides[0] * dtype_size(args.inputs[2]->dtype);
    } else {
      groups_ = a_shape_[0];
    }
  }
  int64_t workspace_bytes() const override {
    return (numel(a_shape_) + numel(b_shape_) + numel(out_type_.shape)) *
           static_cast<int64_t>(sizeof(T));
  }
  Status compute(void* const* buffers) override {
    T* a = static_cast<T*>(buffers[output_ + 1]);
    T* b = a + numel(a_shape_);
    T* c = b + numel(b_shape_);
    a_.run(a, buffers[0]);
    b_.run(b, buffers[1]);
    std::fill_n(c, numel(out_type_.shape), T{0});
    int64_t begin = 0;
    for (int64_t g = 0; g < groups_; ++g) {
      int64_t end = 0;
      if (has_offsets_) {
        Int offset;
        load_(static_cast<const std::byte*>(buffers[2]) + g * step_, 0, 1, &offset);
        end = offset.v;
        if (end < begin || end > ragged_size())
          return Status(Code::kOutOfRange, "group " + std::to_string(g) + " ends at " +
                                               std::to_string(end) + " of " +
                                               std::to_string(ragged_size()));
      }
      if (g >= share_.first && g - share_.first < share_.own)
        multiply(g - share_.first, begin, end, a, b, c);
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
  bool a_batched() const { return a_shape_.size() == 3; }
  bool b_batched() const { return b_shape_.size() == 3; }
  // The dim that offsets cut: rows of a, columns of b, or what is summed.
  int64_t ragged_size() const {
    if (b_batched()) return a_shape_[0];
    return a_batched() ? b_shape_[1] : a_shape_[1];
  }
  // `g`: of this rank's groups.
  void multiply(int64_t g, int64_t begin, int64_t end, const T* a, const T* b, T* c) const {
    const int64_t m = a_shape_[a_shape_.size() - 2], k = a_shape_.back(), n = b_shape_.back();
    const int64_t size = end - begin;
    Gemm<T> gemm_args{m, n, share_.depth, {a, k, 1}, {b, n, 1}, {c, n, 1}};
    if (a_batched()) gemm_args.a.data += g * m * k;
    if (b_batched()) gemm_args.b.data += g * k * n;
    if (a_batched() == b_batched()) gemm_args.c.data += g * m * n;
    if (!a_batched() && b_batched()) {  // rows
      gemm_args.m = size;
      gemm_args.a.data += begin * k;
      gemm_args.c.data += begin * n;
    } else if (a_batched() && !b_batched()) {  // columns
      gemm_args.n = size;
      gemm_args.b.data += begin;
      gemm_args.c.data += begin;
    } else if (!a_batched()) {  // terms
      gemm_args.k = size;
      gemm_args.a.data += begin;
      gemm_args.b.data += begin * n;
    }
    if (gemm_args.m > 0 && gemm_args.n > 0 && gemm_args.k > 0) gemm(gemm_args);
  }

  TensorType out_type_;
  StridedCast a_, b_, c_;  // into the workspace, and out of it
  Dims a_shape_, b_shape_;
  GroupShare share_;
  bool has_offsets_;
  size_t output_;
  int64_t groups_ = 0, step_ = 0;
  LoadRow<Int> load_ = nullptr;
};

// Whether the shapes are those of products by groups. How many groups there are, share_of() checks.
bool shapes_fit(const Dims& a, const Dims& b, const Dims& out, bool has_offsets) {
  const bool batches = a.size() == 3 && b.size() == 3;
  if (a.size() < 2 || a.size() > 3 || b.size() < 2 || b.size() > 3 || a.back() != b[b.size() - 2] ||
      batches == has_offsets || (batches && a[0] != b[0]))
    return false;
  const int64_t m = a[a.size() - 2], n = b.back();
  if (a.size() != b.size()) return out == Dims{m, n};
  return out.size() == 3 && out == Dims{batches ? a[0] : out[0], m, n};
}

Result<GroupShare> share_of(const KernelArgs& args, const TensorType* offsets) {
  const TensorType &a = *args.inputs[0], &b = *args.inputs[1];
  const bool first = a.rank() == 3, second = b.rank() == 3;
  const TensorType& by_group = first ? a : second ? b : *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const TablePart groups, table_part(args, by_group, 0));
  if (offsets != nullptr && offsets->shape[0] != groups.whole)
    return bad_types(to_string(*offsets) + " does not end the groups of " + to_string(by_group));
  GroupShare share{groups.first, groups.own, a.shape.back()};
  if (first || second) {
    SHW_ASSIGN_OR_RETURN(const TablePart terms, table_part(args, by_group, first ? 2 : 1));
    share.depth = terms.own;
  }
  return share;
}

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &a = *args.inputs[0], &b = *args.inputs[1], &out = *args.outputs[0];
  const TensorType* offsets = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
  if (!is_floating(a.dtype) || !is_floating(b.dtype) || !is_floating(out.dtype) ||
      !shapes_fit(a.shape, b.shape, out.shape, offsets != nullptr) ||
      (offsets != nullptr && (offsets->rank() != 1 || !is_index_dtype(offsets->dtype))))
    return bad_types("no products of " + to_string(a) + " and " + to_string(b) + " in " +
                     to_string(out));
  for (const TensorType* t : {&a, &b, &out}) SHW_RETURN_IF_ERROR(check_size({t->numel()}));
  SHW_ASSIGN_OR_RETURN(const GroupShare share, share_of(args, offsets));
  if (out.dtype == Dtype::kF64) return make_kernel<GroupedMm<double>>(args, share);
  return make_kernel<GroupedMm<float>>(args, share);
}

}  // namespace

extern const Kernel kGroupedMm;
constinit const Kernel kGroupedMm = {"grouped_mm", prepare};

}  // namespace shw::runtime::cpu
