#include "measure/kernel_cases.h"

#include <algorithm>

#include "cost/kernel_times.h"

namespace shw::measure {
namespace {

constexpr Dtype kF32 = Dtype::kF32, kBF16 = Dtype::kBF16;

TensorType typed(Dtype dtype, const Extent& n) { return row_major(dtype, n.matrix()); }

// A type with gaps between short rows, so that kernels do not process them as one row.
TensorType gapped(Dtype dtype, const Extent& n) {
  TensorType type = typed(dtype, n);
  if (n.row < cost::KernelTimes::kLongRow) type.strides[0] *= 2;
  return type;
}

ProgramStep step_of(const MeasuredKernel& k, ValueList inputs) {
  ProgramStep step;
  step.kernel = k.kernel;
  step.inputs = std::move(inputs);
  return step;
}

KernelCase made(ProgramStep step, std::vector<TensorType> results, int64_t elements) {
  KernelCase c;
  c.step = std::move(step);
  c.results = std::move(results);
  c.elements = elements;
  return c;
}

// The same shape in and out.
KernelCase elementwise(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n,
                       size_t num_operands) {
  constexpr Source kSources[] = {Source::kFirst, Source::kSecond, Source::kThird};
  const TensorType type = typed(k.dtype, n);
  ValueList in;
  for (size_t i = 0; i < num_operands; ++i)
    in.push_back(maker.operand(kSources[i], i == 0 ? gapped(k.dtype, n) : type));
  return made(step_of(k, std::move(in)), {type}, n.elements);
}

KernelCase unary(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  return elementwise(k, maker, n, 1);
}
KernelCase binary(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  return elementwise(k, maker, n, 2);
}

KernelCase comparison(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = binary(k, maker, n);
  c.results = {typed(Dtype::kBool, n)};
  return c;
}

KernelCase power(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = unary(k, maker, n);
  c.step.attrs.set(AttrKey::kExponent, int64_t{2});
  return c;
}

KernelCase clamped(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = unary(k, maker, n);
  c.step.attrs.set(AttrKey::kMin, 0.0);
  return c;
}

KernelCase threshold(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = binary(k, maker, n);
  c.step.attrs.set(AttrKey::kThreshold, 0.0);
  return c;
}

KernelCase chosen(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const TensorType type = typed(kF32, n);
  return made(step_of(k, {maker.operand(Source::kFlags, typed(Dtype::kBool, n)),
                          maker.operand(Source::kFirst, gapped(kF32, n)),
                          maker.operand(Source::kSecond, type)}),
              {type}, n.elements);
}

KernelCase masked(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const TensorType type = typed(k.dtype, n);
  KernelCase c = made(step_of(k, {maker.operand(Source::kFirst, gapped(k.dtype, n)),
                                  maker.operand(Source::kFlags, typed(Dtype::kBool, n))}),
                      {type}, n.elements);
  c.step.attrs.set(AttrKey::kValue, 0.0);
  return c;
}

KernelCase cast(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const Dtype to = k.dtype == Dtype::kF32 ? Dtype::kBF16 : Dtype::kF32;
  KernelCase c = unary(k, maker, n);
  c.results = {typed(to, n)};
  c.step.attrs.set(AttrKey::kDtype, to);
  return c;
}

// [heads, rows, row] → [rows, heads, row], as around attention.
KernelCase transposed(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const int64_t heads = std::min<int64_t>(n.elements / n.row, 4), rows = n.elements / n.row / heads;
  const TensorType in{{rows, heads, n.row}, {n.row, rows * n.row, 1}, k.dtype};
  return made(step_of(k, {maker.operand(Source::kFirst, in)}),
              {row_major(k.dtype, {rows, heads, n.row})}, n.elements);
}

// Half of each row of a matrix, or a long row.
KernelCase window(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const TensorType in = gapped(k.dtype, n);
  return made(step_of(k, {maker.operand(Source::kFirst, in)}), {typed(k.dtype, n)}, n.elements);
}

KernelCase of_rows(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = unary(k, maker, n);
  c.results = {row_major(k.dtype, {n.matrix()[0], 1})};
  c.step.attrs.set(AttrKey::kDims, std::vector<int64_t>{-1});
  c.step.attrs.set(AttrKey::kKeepDim, true);
  return c;
}

KernelCase of_columns(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = unary(k, maker, n);
  c.results = {row_major(k.dtype, {1, n.matrix()[1]})};
  c.step.attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
  c.step.attrs.set(AttrKey::kKeepDim, true);
  return c;
}

KernelCase searched(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = unary(k, maker, n);
  c.results = {row_major(Dtype::kI64, {n.matrix()[0]})};
  c.step.attrs.set(AttrKey::kDim, int64_t{-1});
  return c;
}

KernelCase extreme(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = searched(k, maker, n);
  c.results.insert(c.results.begin(), row_major(k.dtype, {n.matrix()[0]}));
  return c;
}

KernelCase along_rows(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n,
                      size_t num_operands) {
  KernelCase c = elementwise(k, maker, n, num_operands);
  c.step.attrs.set(AttrKey::kDim, int64_t{-1});
  return c;
}

KernelCase unary_rows(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  return along_rows(k, maker, n, 1);
}
KernelCase binary_rows(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  return along_rows(k, maker, n, 2);
}

KernelCase sorted(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = unary_rows(k, maker, n);
  c.results.push_back(typed(Dtype::kI64, n));
  return c;
}

KernelCase layer_norm(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n, bool backward) {
  const Dims shape = n.matrix();
  const TensorType x = typed(k.dtype, n), weight = row_major(k.dtype, {shape[1]}),
                   row = row_major(k.dtype, {shape[0], 1});
  const auto at = [&](Source s, const TensorType& t) { return maker.operand(s, t); };
  KernelCase c;
  c.elements = n.elements;
  if (backward) {
    c.step = step_of(
        k, {at(Source::kFirst, x), at(Source::kSecond, x), at(Source::kThird, row),
            at(Source::kThird, row), at(Source::kThird, weight), at(Source::kThird, weight)});
    c.results = {x, weight, weight};
  } else {
    c.step = step_of(
        k, {at(Source::kFirst, x), at(Source::kSecond, weight), at(Source::kThird, weight)});
    c.results = {x, row, row};
  }
  c.step.attrs.set(AttrKey::kNormalizedShape, std::vector<int64_t>{shape[1]});
  c.step.attrs.set(AttrKey::kEps, 1e-5);
  return c;
}
KernelCase norm(const MeasuredKernel& k, ProbeMaker& m, const Extent& n) {
  return layer_norm(k, m, n, false);
}
KernelCase norm_backward(const MeasuredKernel& k, ProbeMaker& m, const Extent& n) {
  return layer_norm(k, m, n, true);
}

KernelCase rms_norm(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = layer_norm(k, maker, n, false);
  c.step.inputs.pop_back();
  c.results.pop_back();
  return c;
}

KernelCase rms_norm_backward(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = layer_norm(k, maker, n, true);
  c.step.inputs.resize(4);
  c.step.inputs[3] = maker.operand(Source::kThird, row_major(k.dtype, {n.matrix()[1]}));
  c.results.pop_back();
  return c;
}

// Looks up rows of a table by index.
KernelCase looked_up(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const Dims shape = n.matrix();
  const ValueId table = maker.operand(Source::kFirst, row_major(k.dtype, {kTableRows, shape[1]})),
                rows = maker.operand(Source::kIndices, row_major(Dtype::kI64, {shape[0]}));
  KernelCase c = made(step_of(k, {table, rows}), {typed(k.dtype, n)}, n.elements);
  if (k.kernel == "index") c.step.attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
  if (k.kernel == "index_select") c.step.attrs.set(AttrKey::kDim, int64_t{0});
  return c;
}

KernelCase table_gradient(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const Dims shape = n.matrix();
  const TensorType table = row_major(k.dtype, {kTableRows, shape[1]});
  KernelCase c =
      made(step_of(k, {maker.operand(Source::kFirst, typed(k.dtype, n)),
                       maker.operand(Source::kIndices, row_major(Dtype::kI64, {shape[0]}))}),
           {table}, n.elements);
  c.step.attrs.set(AttrKey::kNumWeights, kTableRows);
  return c;
}

// Gathers elements of a table of kTableRows rows by index.
KernelCase gathered(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const Dims shape = n.matrix();
  KernelCase c =
      made(step_of(k, {maker.operand(Source::kFirst, row_major(k.dtype, {kTableRows, shape[1]})),
                       maker.operand(Source::kIndices, typed(Dtype::kI64, n))}),
           {typed(k.dtype, n)}, n.elements);
  c.step.attrs.set(AttrKey::kDim, int64_t{0});
  return c;
}

KernelCase scattered(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const Dims shape = n.matrix();
  const TensorType table = row_major(k.dtype, {kTableRows, shape[1]});
  KernelCase c = made(step_of(k, {maker.operand(Source::kFirst, table),
                                  maker.operand(Source::kIndices, typed(Dtype::kI64, n)),
                                  maker.operand(Source::kSecond, typed(k.dtype, n))}),
                      {table}, std::max(n.elements, table.numel()));
  c.step.attrs.set(AttrKey::kDim, int64_t{0});
  return c;
}

// Replaces rows of a table by others.
KernelCase put(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const Dims shape = n.matrix();
  const TensorType table = row_major(k.dtype, {kTableRows, shape[1]});
  KernelCase c =
      made(step_of(k, {maker.operand(Source::kFirst, table),
                       maker.operand(Source::kSecond, typed(k.dtype, n)),
                       maker.operand(Source::kIndices, row_major(Dtype::kI64, {shape[0]}))}),
           {table}, n.elements);
  c.step.attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
  return c;
}

KernelCase joined(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const TensorType half = typed(k.dtype, {n.elements / 2, std::min(n.row, n.elements / 2)});
  KernelCase c =
      made(step_of(k, {maker.operand(Source::kFirst, half), maker.operand(Source::kSecond, half)}),
           {row_major(k.dtype, {2 * half.shape[0], half.shape[1]})}, n.elements);
  c.step.attrs.set(AttrKey::kDim, int64_t{0});
  return c;
}

// Half of the rows, padded with zeros.
KernelCase surrounded(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  const TensorType half = typed(k.dtype, {n.elements / 2, std::min(n.row, n.elements / 2)});
  KernelCase c = made(step_of(k, {maker.operand(Source::kFirst, half)}),
                      {row_major(k.dtype, {2 * half.shape[0], half.shape[1]})}, n.elements);
  c.step.attrs.set(AttrKey::kDim, int64_t{0});
  c.step.attrs.set(AttrKey::kStart, int64_t{0});
  c.step.attrs.set(AttrKey::kEnd, half.shape[0]);
  c.step.attrs.set(AttrKey::kStep, int64_t{1});
  c.step.attrs.set(AttrKey::kPad, std::vector<int64_t>{0, 0, 0, half.shape[0]});
  c.step.attrs.set(AttrKey::kValue, 0.0);
  return c;
}

KernelCase filled(const MeasuredKernel& k, ProbeMaker&, const Extent& n) {
  KernelCase c = made(step_of(k, {}), {typed(k.dtype, n)}, n.elements);
  c.step.attrs.set(AttrKey::kFillValue, 1.0);
  return c;
}

KernelCase filled_like(const MeasuredKernel& k, ProbeMaker& maker, const Extent& n) {
  KernelCase c = unary(k, maker, n);
  c.step.attrs.set(AttrKey::kFillValue, 1.0);
  return c;
}

constexpr MeasuredKernel kKernels[] = {
    {"neg", "neg", kF32, unary},
    {"relu", "relu", kF32, unary},
    {"abs", "abs", kF32, unary},
    {"exp", "exp", kF32, unary},
    {"log", "log", kF32, unary},
    {"tanh", "tanh", kF32, unary},
    {"erf", "erf", kF32, unary},
    {"cos", "cos", kF32, unary},
    {"sin", "sin", kF32, unary},
    {"sqrt", "sqrt", kF32, unary},
    {"rsqrt", "rsqrt", kF32, unary},
    {"reciprocal", "reciprocal", kF32, unary},
    {"sigmoid", "sigmoid", kF32, unary},
    {"silu", "silu", kF32, unary},
    {"gelu", "gelu", kF32, unary},
    {"conj", "conj", Dtype::kC64, unary},
    {"pow", "pow", kF32, power},
    {"clamp", "clamp", kF32, clamped},
    {"add", "add", kF32, binary},
    {"add", "add", kBF16, binary},
    {"sub", "sub", kF32, binary},
    {"mul", "mul", kF32, binary},
    {"mul", "mul", kBF16, binary},
    {"mul", "mul", Dtype::kC64, binary},
    {"div", "div", kF32, binary},
    {"maximum", "maximum", kF32, binary},
    {"minimum", "minimum", kF32, binary},
    {"gelu_backward", "gelu_backward", kF32, binary},
    {"silu_backward", "silu_backward", kF32, binary},
    {"sigmoid_backward", "sigmoid_backward", kF32, binary},
    {"tanh_backward", "tanh_backward", kF32, binary},
    {"threshold_backward", "threshold_backward", kF32, threshold},
    {"eq", "eq", kF32, comparison},
    {"eq", "eq", Dtype::kI64, comparison},
    {"ne", "ne", Dtype::kI64, comparison},
    {"lt", "lt", kF32, comparison},
    {"le", "le", kF32, comparison},
    {"gt", "gt", kF32, comparison},
    {"ge", "ge", kF32, comparison},
    {"le", "le", Dtype::kI64, comparison},
    {"lt", "lt", Dtype::kI64, comparison},
    {"add", "add", Dtype::kI64, binary},
    {"mul", "mul", Dtype::kI64, binary},
    {"logical_not", "logical_not", Dtype::kBool, unary},
    {"bitwise_and", "bitwise_and", Dtype::kBool, binary},
    {"where", "where", Dtype::kBool, chosen},
    {"masked_fill", "masked_fill", kF32, masked},
    {"convert_element_type", "convert_element_type", kF32, cast},
    {"convert_element_type", "convert_element_type", kBF16, cast},
    {"dtype_cast", "dtype_cast", kF32, cast},
    {"dtype_cast", "dtype_cast", kBF16, cast},
    {"clone", "clone", kF32, transposed},
    {"local_slice", "clone", kF32, window},
    {"sum", "sum", kF32, of_rows},
    {"mean", "mean", kF32, of_rows},
    {"sum.columns", "sum", kF32, of_columns},
    {"mean.columns", "mean", kF32, of_columns},
    {"var", "var", kF32, of_rows, true},
    {"amax", "amax", kF32, of_rows},
    {"any", "any", Dtype::kBool, of_rows, true},
    {"sum", "sum", Dtype::kI64, of_rows},
    {"argmax", "argmax", kF32, searched, true},
    {"max", "max", kF32, extreme, true},
    {"softmax", "softmax", kF32, unary_rows},
    {"log_softmax", "log_softmax", kF32, unary_rows},
    {"softmax_backward_data", "softmax_backward_data", kF32, binary_rows},
    {"log_softmax_backward_data", "log_softmax_backward_data", kF32, binary_rows},
    {"cumsum", "cumsum", kF32, unary_rows, true},
    {"cumsum", "cumsum", Dtype::kI64, unary_rows, true},
    {"sort", "sort", kF32, sorted, true},
    {"sort", "sort", Dtype::kI64, sorted, true},
    {"topk", "topk", kF32, sorted, true},
    {"native_layer_norm", "native_layer_norm", kF32, norm},
    {"native_layer_norm_backward", "native_layer_norm_backward", kF32, norm_backward},
    {"fused_rms_norm", "fused_rms_norm", kF32, rms_norm},
    {"fused_rms_norm_backward", "fused_rms_norm_backward", kF32, rms_norm_backward},
    {"embedding", "embedding", kF32, looked_up},
    {"index", "index", kF32, looked_up, true, true},
    {"index", "index", Dtype::kI64, looked_up, true, true},
    {"index_put", "index_put", kF32, put, true, true},
    {"index_select", "index_select", kF32, looked_up},
    {"embedding_dense_backward", "embedding_dense_backward", kF32, table_gradient},
    {"gather", "gather", kF32, gathered, true},
    {"scatter_add", "scatter_add", kF32, scattered, true},
    {"scatter", "scatter", kF32, scattered, true},
    {"cat", "cat", kF32, joined},
    {"slice_backward", "slice_backward", kF32, surrounded},
    {"constant_pad_nd", "constant_pad_nd", kF32, surrounded},
    {"full", "full", kF32, filled},
    {"full_like", "full_like", kF32, filled_like},
    {"tril", "tril", kF32, unary, true},
};

}  // namespace

std::span<const MeasuredKernel> measured_kernels() { return kKernels; }

ProbeMaker::Step product_case(ProbeMaker& maker, Dtype dtype, const ProductTable& table, int64_t m,
                              int64_t n, int64_t k) {
  const auto matrix = [&](int64_t rows, int64_t columns, bool transposed) {
    TensorType type = row_major(dtype, {rows, columns});
    if (transposed) type.strides = {1, rows};
    return type;
  };
  ProbeMaker::Step c;
  c.step.kernel = "mm";
  c.step.inputs = {maker.operand(Source::kFirst, matrix(m, k, table.first_transposed)),
                   maker.operand(Source::kSecond, matrix(k, n, table.second_transposed))};
  c.results = {row_major(dtype, {m, n})};
  return c;
}

ProbeMaker::Step attention_case(ProbeMaker& maker, Dtype dtype, const AttentionTable& table,
                                int64_t heads, int64_t keys, int64_t width) {
  const TensorType head = row_major(dtype, {1, heads, keys, width}),
                   lse = row_major(kF32, {1, heads, keys});
  const auto at = [&](Source s, const TensorType& t) { return maker.operand(s, t); };
  ProbeMaker::Step c;
  c.step.kernel = table.backward ? "sdpa_backward" : "sdpa";
  c.step.attrs.set(AttrKey::kCausal, table.causal);
  ValueId bias;
  if (table.biased)  // the same for all heads
    bias = at(Source::kThird, {{1, heads, keys, keys}, {0, 0, keys, 1}, dtype});
  if (table.backward) {
    c.step.inputs = {at(Source::kFirst, head),
                     at(Source::kFirst, head),
                     at(Source::kSecond, head),
                     at(Source::kThird, head),
                     bias,
                     at(Source::kFirst, head),
                     at(Source::kSecond, lse)};
    c.results = {head, head, head};
  } else {
    c.step.inputs = {at(Source::kFirst, head), at(Source::kSecond, head), at(Source::kThird, head)};
    if (table.biased) c.step.inputs.push_back(bias);
    c.results = {head, lse};
  }
  return c;
}

ProbeMaker::Step convolution_case(ProbeMaker& maker, bool backward, int64_t side, int64_t groups,
                                  int64_t out_channels, int64_t in_channels) {
  constexpr int64_t width = kConvolutionKernel;
  const int64_t out = groups * out_channels;
  const TensorType input = row_major(kF32, {1, groups * in_channels, side, side}),
                   weight = row_major(kF32, {out, in_channels, width, width}),
                   result = row_major(kF32, {1, out, side, side});
  ProbeMaker::Step c;
  c.step.kernel = backward ? "convolution_backward" : "convolution";
  c.step.attrs.set(AttrKey::kPadding, std::vector<int64_t>{width / 2});
  c.step.attrs.set(AttrKey::kGroups, groups);
  if (backward) c.step.inputs = {maker.operand(Source::kFirst, result)};
  c.step.inputs.push_back(maker.operand(Source::kSecond, input));
  c.step.inputs.push_back(maker.operand(Source::kThird, weight));
  c.results = {result};
  if (backward) c.results = {input, weight, row_major(kF32, {out})};
  return c;
}

}  // namespace shw::measure
