#include "placement/kernel_work.h"

#include <algorithm>
#include <cstdint>

#include "ops/families.h"
#include "tensor/key_window.h"

namespace shw {
namespace {

using cost::KernelWork;
using Works = std::vector<KernelWork>;

double number(int64_t n) { return static_cast<double>(n); }

// The kernel depends on the memory order of the operands: each may be row-major or transposed.
KernelWork product(double times, int64_t m, int64_t n, int64_t k, Dtype dtype,
                   bool first_transposed = false, bool second_transposed = false) {
  const std::string_view kernel = first_transposed ? "mm.tn" : second_transposed ? "mm.nt" : "mm";
  return {kernel, dtype, {m, n, k}, times};
}

KernelWork elements(std::string_view kernel, int64_t count, int64_t row, Dtype dtype) {
  return {kernel, dtype, {count, std::clamp<int64_t>(row, 1, cost::KernelTimes::kLongRow)}};
}

// The stride of an operand along dim `dim` of the result, with dims aligned at the end; 0: the
// operand is broadcast.
int64_t stride_at(const TensorType& type, size_t dims, size_t dim) {
  const size_t lacks = dims - std::min(dims, type.shape.size());
  return dim < lacks || type.shape[dim - lacks] == 1 ? 0 : type.strides[dim - lacks];
}

// The elements of the innermost dims of a dense result along which all operands have matching
// strides.
int64_t common_row(const OpArgs& args, const TensorType& result) {
  int64_t row = 1;
  size_t inner = result.shape.size();
  for (size_t d = result.shape.size(); d-- > 0;) {
    if (result.shape[d] == 1) continue;
    for (const OptionalType& t : args.operands)
      if (t && row > 1 &&
          stride_at(*t, result.shape.size(), d) !=
              stride_at(*t, result.shape.size(), inner) * result.shape[inner])
        return row;
    row *= result.shape[d];
    inner = d;
  }
  return row;
}

bool is_transposed(const TensorType& type) {
  const size_t dims = type.shape.size();
  return type.strides[dims - 2] < type.strides[dims - 1];
}

// Matrices in the last two dims of operands `a` and `a` + 1.
KernelWork matrices(const OpArgs& args, size_t a) {
  const Dims &x = args.in(a).shape, &y = args.in(a + 1).shape;
  double times = 1;
  for (size_t d = 0; d + 2 < x.size(); ++d) times *= number(x[d]);
  return product(times, x[x.size() - 2], y.back(), x.back(), args.in(a).dtype,
                 is_transposed(args.in(a)), is_transposed(args.in(a + 1)));
}

// The size of several dims of an operand together, and the least of their strides.
struct Extent {
  int64_t count = 1, stride = INT64_MAX;
  void add(const TensorType& type, size_t dim) {
    count *= type.shape[dim];
    if (type.shape[dim] > 1) stride = std::min(stride, type.strides[dim]);
  }
};

// A letter in both operands and the result counts products. A letter in both operands only counts
// terms of the sum.
Works einsum(const OpArgs& args) {
  const auto equation = ops::Equation::parse(args.attrs->get_string(AttrKey::kEquation));
  if (!equation.ok()) return {};
  const TensorType &first = args.in(0), &second = args.in(1);
  Extent batch, rows, columns, first_depth, second_depth;
  const auto has = [](const std::string& text, char c) { return text.find(c) != text.npos; };
  for (size_t i = 0; i < equation->lhs.size(); ++i) {
    const char c = equation->lhs[i];
    const bool shared = has(equation->rhs, c), stays = has(equation->out, c);
    (shared ? stays ? batch : first_depth : rows).add(first, i);
  }
  for (size_t i = 0; i < equation->rhs.size(); ++i) {
    const char c = equation->rhs[i];
    const bool shared = has(equation->lhs, c), stays = has(equation->out, c);
    if (!shared || !stays) (shared ? second_depth : columns).add(second, i);
  }
  return {product(number(batch.count), rows.count, columns.count, first_depth.count, first.dtype,
                  rows.stride < first_depth.stride, second_depth.stride < columns.stride)};
}

KernelWork copied(const TensorType& type) {
  return elements("clone", type.numel(), type.shape.back(), type.dtype);
}

// Assumes groups of equal size. The kernel copies its operands first (runtime/cpu).
Works grouped(const OpArgs& args, const TensorType& result) {
  const Dims &a = args.in(0).shape, &b = args.in(1).shape;
  int64_t m = a[a.size() - 2], n = b.back(), k = a.back();
  int64_t own = a.size() == 3 ? a[0] : b.size() == 3 ? b[0] : result.shape[0];
  if (args.has(2)) {
    int64_t& cut = a.size() == 3 ? n : b.size() == 3 ? m : k;
    cut = std::max<int64_t>(1, cut / std::max<int64_t>(1, args.in(2).shape[0]));
  }
  const Dtype dtype = args.in(0).dtype;
  return {product(number(own), m, n, k, dtype), copied(args.in(0)), copied(args.in(1)),
          copied(result)};
}

// The share of a head's pairs of a query and a key that remain under the window.
double share_of_window(const Attrs& attrs, bool is_causal, int64_t queries, int64_t keys) {
  const auto window = key_window(attrs, queries, keys);
  if (!has_window(attrs) || !window.ok()) return 1;
  const KeyWindow without{queries, is_causal ? 0 : keys};
  const double all = visible_pairs(without, queries, keys);
  return all > 0 ? visible_pairs(*window, queries, keys) / all : 1;
}

struct AttentionKernels {
  std::string_view plain, causal, biased;
};

// The heads run one after another. `first`: the index of q among the operands.
Works attention(const AttentionKernels& kernels, const OpArgs& args, size_t first) {
  const Dims &q = args.in(first).shape, &k = args.in(first + 1).shape;
  double times = number(q[0]) * number(q[1]) * number(q[2]) / number(std::max<int64_t>(1, k[2]));
  const bool is_causal = args.attrs->get_bool(AttrKey::kCausal, false);
  times *= share_of_window(*args.attrs, is_causal, q[2], k[2]);
  const std::string_view kernel = is_causal             ? kernels.causal
                                  : args.has(first + 3) ? kernels.biased
                                                        : kernels.plain;
  return {{kernel, args.in(first).dtype, {k[2], q[3]}, times}};
}

// The groups run one after another, over the places of the result. `result`, `weight`: [N, O, …],
// [O, C, …].
KernelWork convolution(std::string_view kernel, const OpArgs& args, const TensorType& result,
                       const TensorType& weight) {
  const int64_t groups = std::max<int64_t>(1, args.attrs->get_int(AttrKey::kGroups, 1)),
                channels = weight.shape[0];
  const auto without = [](const TensorType& type, int64_t part) {
    return type.numel() / std::max<int64_t>(1, part);
  };
  return {kernel,
          result.dtype,
          {without(result, channels), channels / groups, without(weight, channels)},
          number(groups)};
}

// The number of elements along the dim of the op.
int64_t line_of(const OpArgs& args, const TensorType& type) {
  const auto dim =
      ops::wrap_dim(args.attrs->get_int(AttrKey::kDim, -1), static_cast<int>(type.shape.size()));
  return dim ? type.shape[*dim] : 1;
}

// The number of elements that one look-up returns: those of the dims after the last indexed one.
int64_t looked_up_row(const OpArgs& args) {
  const TensorType& table = args.in(0);
  const auto rank = static_cast<int>(table.shape.size());
  const std::vector<int64_t>& dims = args.attrs->get_ints(AttrKey::kDims);
  size_t last = dims.empty() ? args.operands.size() - 2 : 0;  // by default the first dims
  for (const int64_t d : dims) last = std::max(last, ops::wrap_dim(d, rank).value_or(0));
  int64_t row = 1;
  for (size_t d = last + 1; d < table.shape.size(); ++d) row *= table.shape[d];
  return row;
}

// How a sum reads its operand. A row is a run of elements that are consecutive in memory, in any
// order of dims. Its elements are either added up, or added to another row like vectors.
struct Stretch {
  int64_t row = 1;
  bool summed = true;
};
Stretch stretch_of_sum(const OpArgs& args) {
  const TensorType& in = args.in(0);
  const auto rank = static_cast<int>(in.shape.size());
  const std::vector<int64_t>& dims = args.attrs->get_ints(AttrKey::kDims);
  std::vector<bool> summed(in.shape.size(), dims.empty());
  for (const int64_t dim : dims)
    if (const auto d = ops::wrap_dim(dim, rank)) summed[*d] = true;
  Stretch stretch;
  for (;;) {
    size_t d = 0;
    while (d < in.shape.size() && (in.shape[d] <= 1 || in.strides[d] != stretch.row)) ++d;
    if (d == in.shape.size() || (stretch.row > 1 && summed[d] != stretch.summed)) return stretch;
    stretch = {stretch.row * in.shape[d], summed[d]};
  }
}

// The loops of the op run over its largest tensor, except the table of a look-up.
KernelWork loops(OpKind op, const OpArgs& args, std::span<const OptionalType> results) {
  const TensorType *first = nullptr, *largest = nullptr, *out = nullptr;
  for (const OptionalType& t : args.operands) {
    if (!t) continue;
    if (first == nullptr) first = &*t;
    if (largest == nullptr || t->numel() > largest->numel()) largest = &*t;
  }
  for (const OptionalType& t : results)
    if (t && (out == nullptr || t->numel() > out->numel())) out = &*t;
  if (out == nullptr) out = largest;
  if (first == nullptr) first = largest = out;
  if (out == nullptr) return {op_name(op)};
  const auto last = [](const TensorType& t) { return t.shape.empty() ? 1 : t.shape.back(); };
  const std::string_view kernel = op_name(op);
  switch (op) {
    case OpKind::kIndex:
      return elements(kernel, out->numel(), looked_up_row(args), first->dtype);
    case OpKind::kSum:
    case OpKind::kMean:
      if (const Stretch s = stretch_of_sum(args); s.summed)
        return elements(kernel, largest->numel(), s.row, first->dtype);
      else
        return elements(op == OpKind::kSum ? "sum.columns" : "mean.columns", largest->numel(),
                        s.row, first->dtype);
    case OpKind::kEmbedding:
    case OpKind::kIndexSelect:
    case OpKind::kGather:
      return elements(kernel, out->numel(), last(*out), first->dtype);
    case OpKind::kEmbeddingDenseBackward:
      return elements(kernel, first->numel(), last(*out), first->dtype);
    case OpKind::kSoftmax:
    case OpKind::kLogSoftmax:
    case OpKind::kSoftmaxBackward:
    case OpKind::kLogSoftmaxBackward:
    case OpKind::kCumsum:
    case OpKind::kSort:  // along a dim, each line by itself
      return elements(kernel, out->numel(), line_of(args, *out), first->dtype);
    default:
      if (largest->numel() > out->numel())  // along a dim
        return elements(kernel, largest->numel(), last(*largest), first->dtype);
      return elements(kernel, out->numel(), common_row(args, *out), first->dtype);
  }
}

}  // namespace

Works kernel_works(OpKind op, const OpArgs& args, std::span<const OptionalType> results) {
  switch (op) {
    case OpKind::kMm:
    case OpKind::kBmm:
      return {matrices(args, 0)};
    case OpKind::kAddmm:
    case OpKind::kBaddbmm:
      return {matrices(args, 1),
              elements("add", results[0]->numel(), results[0]->shape.back(), results[0]->dtype)};
    case OpKind::kEinsum:
      return einsum(args);
    case OpKind::kGroupedMm:
      return grouped(args, *results[0]);
    case OpKind::kSdpa:
      return attention({"sdpa", "sdpa.causal", "sdpa.biased"}, args, 0);
    case OpKind::kSdpaBackward:
      return attention({"sdpa_backward", "sdpa_backward.causal", "sdpa_backward.biased"}, args, 1);
    case OpKind::kConvolution:
      return {convolution("convolution", args, *results[0], args.in(1))};
    case OpKind::kConvolutionBackward:
      return {convolution("convolution_backward", args, args.in(0), args.in(2))};
    case OpKind::kEmbeddingDenseBackward:  // clears the table first
      return {loops(op, args, results), elements("full", results[0]->numel(),
                                                 cost::KernelTimes::kLongRow, results[0]->dtype)};
    default:
      return {loops(op, args, results)};
  }
}

}  // namespace shw
