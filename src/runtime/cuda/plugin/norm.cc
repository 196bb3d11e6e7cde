#include "runtime/cuda/plugin/norm.h"

#include <algorithm>
#include <limits>

#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/cuda/plugin/slices.h"
#include "runtime/norm_shape.h"

namespace shw::runtime::cuda {
namespace {

// An operand or result of a step; null if absent.
const TensorType* maybe(std::span<const TensorType* const> types, size_t i) {
  return i < types.size() ? types[i] : nullptr;
}

// A tensor whose rows are the dims from `from` on.
NormWindow norm_window(const TensorType* t, size_t from) {
  NormWindow w{};
  if (t == nullptr) return w;
  set_strides(leading_strides_bytes(*t, from), w.row);
  set_strides(trailing_strides_bytes(*t, from), w.column);
  w.dtype = static_cast<int>(t->dtype);
  return w;
}

// A statistic has one element per row, so its column strides stay 0.
NormWindow statistic_window(const TensorType* t, size_t from) {
  NormWindow w{};
  if (t == nullptr) return w;
  set_strides(leading_strides_bytes(*t, from), w.row);
  w.dtype = static_cast<int>(t->dtype);
  return w;
}

NormArguments norm_arguments(const TensorType& x, size_t from, bool centred) {
  NormArguments a{};
  Dims rows, columns;
  for (size_t d = 0; d < x.shape.size(); ++d) (d < from ? rows : columns).push_back(x.shape[d]);
  a.rows = plain_loops(rows);
  a.columns = plain_loops(columns);
  a.x = norm_window(&x, from);
  a.centred = centred ? 1 : 0;
  return a;
}

// Merges row dims that all tensors traverse alike, which saves index divisions.
void merge_rows(NormArguments& a) {
  NormWindow* const all[] = {&a.x,      &a.grad, &a.mean, &a.rstd,
                             &a.weight, &a.bias, &a.out,  &a.out_bias};
  int rank = 0;
  for (int d = 0; d < a.rows.rank; ++d) {
    const i64 size = a.rows.size[d];
    if (size == 1) continue;
    const bool merges = rank > 0 && std::ranges::all_of(all, [&](const NormWindow* w) {
                          return w->row[rank - 1] == w->row[d] * size;
                        });
    const int at = merges ? rank - 1 : rank++;
    a.rows.size[at] = merges ? a.rows.size[at] * size : size;
    for (NormWindow* w : all) w->row[at] = w->row[d];
  }
  a.rows.rank = rank;
}

class NormKernel final : public CudaKernel {
 public:
  NormKernel(const NormArguments& arguments, bool is_f64, size_t inputs)
      : arguments_(arguments),
        kernel_(is_f64 ? DeviceKernel::shw_norm_f64 : DeviceKernel::shw_norm_f32),
        inputs_(inputs) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const bool centred = arguments_.centred != 0;
    const auto in = [&](size_t i) -> const void* { return i < inputs_ ? buffers[i] : nullptr; };
    void* const* out = buffers + inputs_;
    void* mean = centred ? out[1] : nullptr;
    void* rstd = out[centred ? 2 : 1];
    return launch_blocks(stream, kernel_, arguments_.rows.total, out[0], mean, rstd, in(0), in(1),
                         centred ? in(2) : nullptr, arguments_);
  }

 private:
  const NormArguments arguments_;
  const DeviceKernel kernel_;
  const size_t inputs_;
};

class NormBackwardKernel final : public CudaKernel {
 public:
  NormBackwardKernel(const NormArguments& rows, const NormArguments& columns, bool is_f64,
                     size_t inputs)
      : rows_(rows),
        columns_(columns),
        row_kernel_(is_f64 ? DeviceKernel::shw_norm_backward_f64
                           : DeviceKernel::shw_norm_backward_f32),
        part_kernel_(is_f64 ? DeviceKernel::shw_norm_parameter_parts_f64
                            : DeviceKernel::shw_norm_parameter_parts_f32),
        inputs_(inputs) {}
  int64_t workspace_bytes() const override {
    return columns_.slices * 2 * columns_.columns.total * int64_t{sizeof(double)};
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const bool centred = rows_.centred != 0;
    const auto in = [&](size_t i) -> const void* { return i < inputs_ ? buffers[i] : nullptr; };
    void* const* out = buffers + inputs_;
    const void *grad = in(0), *x = in(1), *mean = centred ? in(2) : nullptr,
               *rstd = in(centred ? 3 : 2), *weight = in(centred ? 4 : 3);
    void* dbias = centred ? out[2] : nullptr;
    if (out[0] != nullptr)
      SHW_RETURN_IF_ERROR(launch_blocks(stream, row_kernel_, rows_.rows.total, out[0], grad, x,
                                        mean, rstd, weight, rows_));
    if (out[1] == nullptr && dbias == nullptr) return {};
    auto* parts = static_cast<double*>(out[centred ? 3 : 2]);
    const int64_t count = columns_.columns.total,
                  tiles = (count + columns_.block_columns - 1) / columns_.block_columns;
    SHW_RETURN_IF_ERROR(launch_blocks(stream, part_kernel_, tiles * columns_.slices, parts, grad, x,
                                      mean, rstd, columns_));
    return launch_elements(stream, DeviceKernel::shw_norm_parameters, count, out[1], dbias,
                           static_cast<const double*>(parts), columns_);
  }

 private:
  const NormArguments rows_, columns_;  // for the gradient of x, and of weight and bias
  const DeviceKernel row_kernel_, part_kernel_;
  const size_t inputs_;
};

Prepared norm(const KernelArgs& args, bool centred) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1, 0));
  const size_t results = centred ? 3 : 2;
  if (args.outputs.size() != results)
    return bad_types("this norm has " + std::to_string(results) + " results");
  const TensorType &x = *args.inputs[0], *out = args.outputs[0],
                   *mean = centred ? args.outputs[1] : nullptr, *rstd = args.outputs[results - 1],
                   *weight = maybe(args.inputs, 1),
                   *bias = centred ? maybe(args.inputs, 2) : nullptr;
  SHW_ASSIGN_OR_RETURN(const size_t from, check_norm(args, x, {mean, rstd}, {weight, bias}));
  if (out != nullptr && out->shape != x.shape)
    return bad_types(to_string(x) + " is not normalised to " + to_string(*out));
  const bool is_f64 = x.dtype == Dtype::kF64;
  NormArguments a = norm_arguments(x, from, centred);
  a.out = norm_window(out, from);
  a.mean = statistic_window(mean, from);
  a.rstd = statistic_window(rstd, from);
  a.weight = norm_window(weight, 0);
  a.bias = norm_window(bias, 0);
  // Without eps, RMS norm uses that of the compute type, as ATen does.
  const double least = is_f64 ? std::numeric_limits<double>::epsilon()
                              : static_cast<double>(std::numeric_limits<float>::epsilon());
  a.eps = centred || args.attrs.has(AttrKey::kEps) ? number_attr(args.attrs, AttrKey::kEps, 0).real
                                                   : least;
  merge_rows(a);
  return make_kernel<NormKernel>(a, is_f64, args.inputs.size());
}

Prepared norm_backward(const Context& context, const KernelArgs& args, bool centred) {
  const size_t operands = centred ? 4 : 3, results = centred ? 3 : 2;
  SHW_RETURN_IF_ERROR(expect_operands(args, operands, 0));
  if (args.outputs.size() != results)
    return bad_types("this norm has " + std::to_string(results) + " gradients");
  const TensorType &grad = *args.inputs[0], &x = *args.inputs[1],
                   *mean = centred ? args.inputs[2] : nullptr, *rstd = args.inputs[operands - 1],
                   *weight = maybe(args.inputs, operands), *dx = args.outputs[0],
                   *dweight = args.outputs[1], *dbias = centred ? args.outputs[2] : nullptr;
  SHW_ASSIGN_OR_RETURN(const size_t from,
                       check_norm(args, x, {mean, rstd}, {weight, dweight, dbias}));
  if (grad.shape != x.shape || (dx != nullptr && dx->shape != x.shape))
    return bad_types("the gradient does not have the shape of " + to_string(x));
  NormArguments rows = norm_arguments(x, from, centred);
  rows.grad = norm_window(&grad, from);
  rows.mean = statistic_window(mean, from);
  rows.rstd = statistic_window(rstd, from);
  rows.weight = norm_window(weight, 0);
  NormArguments columns = rows;
  rows.out = norm_window(dx, from);
  columns.out = norm_window(dweight, 0);
  columns.out_bias = norm_window(dbias, 0);
  if (dweight != nullptr || dbias != nullptr) {
    const Slices slices = slices_of(columns.columns.total, columns.rows.total, context);
    columns.slices = slices.slices;
    columns.block_columns = slices.columns;
  }
  merge_rows(rows);
  merge_rows(columns);
  return make_kernel<NormBackwardKernel>(rows, columns, x.dtype == Dtype::kF64, args.inputs.size());
}

}  // namespace

Prepared prepare_layer_norm(const Context&, const KernelArgs& args) { return norm(args, true); }
Prepared prepare_layer_norm_backward(const Context& context, const KernelArgs& args) {
  return norm_backward(context, args, true);
}
Prepared prepare_rms_norm(const Context&, const KernelArgs& args) { return norm(args, false); }
Prepared prepare_rms_norm_backward(const Context& context, const KernelArgs& args) {
  return norm_backward(context, args, false);
}

}  // namespace shw::runtime::cuda
