#include "runtime/cuda/plugin/embedding.h"

#include "runtime/cuda/plugin/laid_kernel.h"
#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/sorting.h"
#include "runtime/table_part.h"

namespace shw::runtime::cuda {
namespace {

class Embedding final : public CudaKernel {
 public:
  Embedding(const EmbeddingArguments& arguments, size_t output)
      : arguments_(arguments), output_(output) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    arguments_.step.node = origin.node;
    return launch_elements(stream, DeviceKernel::shw_embedding,
                           arguments_.indices.total * arguments_.width, buffers[output_],
                           buffers[0], buffers[1], stream.errors(), arguments_);
  }

 private:
  EmbeddingArguments arguments_;
  const size_t output_;
};

class EmbeddingBackward final : public CudaKernel {
 public:
  EmbeddingBackward(const EmbeddingBackwardArguments& arguments, const TensorType& out,
                    size_t output)
      : arguments_(arguments),
        zeros_(make_fill(out, {})),
        kernel_(out.dtype == Dtype::kF64 ? DeviceKernel::shw_embedding_backward_f64
                                         : DeviceKernel::shw_embedding_backward_f32),
        output_(output) {}
  int64_t workspace_bytes() const override { return sort().workspace_bytes(); }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    arguments_.step.node = origin.node;
    const void *grad = buffers[0], *indices = buffers[1];
    auto* entries = static_cast<SortEntry*>(buffers[output_ + 1]);
    SHW_RETURN_IF_ERROR(zeros_.run(stream, buffers[output_], nullptr, nullptr));  // most rows
    SHW_RETURN_IF_ERROR(launch_elements(stream, DeviceKernel::shw_embedding_rows,
                                        arguments_.indices.total, entries, indices, stream.errors(),
                                        arguments_));
    SHW_ASSIGN_OR_RETURN(const SortEntry* sorted, sort().run(stream, entries));
    const int threads = stream.context().block_threads();
    return launch_blocks(stream, kernel_,
                         arguments_.indices.total * ((arguments_.width + threads - 1) / threads),
                         buffers[output_], grad, sorted, arguments_);
  }

 private:
  LineSort sort() const { return {1, arguments_.indices.total}; }

  EmbeddingBackwardArguments arguments_;
  const Pointwise zeros_;
  const DeviceKernel kernel_;
  const size_t output_;
};

TableRows device_rows(const TablePart& part) { return {part.first, part.own, part.whole}; }

// Strides in bytes of all dims but the last.
void set_leading(const TensorType& type, i64* to) {
  Dims strides = strides_bytes(type);
  strides.erase(strides.size() - 1);
  set_strides(strides, to);
}

}  // namespace

Prepared prepare_embedding(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &table = *args.inputs[0], &indices = *args.inputs[1], &out = *args.outputs[0];
  Dims shape = indices.shape;
  if (table.rank() == 2 && indices.rank() < kMaxRank) shape.push_back(table.shape[1]);
  if (table.rank() != 2 || indices.rank() >= kMaxRank || out.shape != shape ||
      out.dtype != table.dtype || !is_index_dtype(indices.dtype))
    return bad_types("rows of " + to_string(table) + " by " + to_string(indices) + " do not make " +
                     to_string(out));
  SHW_ASSIGN_OR_RETURN(const TablePart rows, table_part(args, table, 0));
  EmbeddingArguments e{};
  e.indices = plain_loops(indices.shape);
  set_strides(strides_bytes(indices), e.index_stride);
  set_leading(out, e.out_stride);
  e.index_dtype = static_cast<int>(indices.dtype);
  e.dtype = static_cast<int>(out.dtype);
  e.rows = device_rows(rows);
  e.width = table.shape[1];
  e.table_row = table.strides[0] * dtype_size(table.dtype);
  e.table_column = table.strides[1] * dtype_size(table.dtype);
  e.out_column = out.strides.back() * dtype_size(out.dtype);
  e.step.kernel = kernel_number("embedding");
  return make_kernel<Embedding>(e, args.inputs.size());
}

Prepared prepare_embedding_backward(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &grad = *args.inputs[0], &indices = *args.inputs[1], &out = *args.outputs[0];
  Dims shape = indices.shape;
  if (out.rank() == 2 && indices.rank() < kMaxRank) shape.push_back(out.shape[1]);
  if (out.rank() != 2 || indices.rank() >= kMaxRank || grad.shape != shape ||
      !is_index_dtype(indices.dtype) || !is_floating(grad.dtype) || !is_floating(out.dtype))
    return bad_types("gradients " + to_string(grad) + " by " + to_string(indices) +
                     " do not make " + to_string(out));
  SHW_RETURN_IF_ERROR(check_size({indices.numel()}));
  SHW_ASSIGN_OR_RETURN(const TablePart rows, table_part(args, out, 0));
  if (args.attrs.get_int(AttrKey::kNumWeights, rows.whole) != rows.whole)
    return bad_types(to_string(out) + " is a piece of a table of " + std::to_string(rows.whole) +
                     " rows, expected as many as attribute 'num_weights' says");
  EmbeddingBackwardArguments e{};
  e.indices = plain_loops(indices.shape);
  set_strides(strides_bytes(indices), e.index_stride);
  set_leading(grad, e.grad_stride);
  e.index_dtype = static_cast<int>(indices.dtype);
  e.grad_dtype = static_cast<int>(grad.dtype);
  e.out_dtype = static_cast<int>(out.dtype);
  e.rows = device_rows(rows);
  e.width = out.shape[1];
  e.padding = args.attrs.get_int(AttrKey::kPaddingIdx, -1) - rows.first;
  e.grad_column = grad.strides.back() * dtype_size(grad.dtype);
  e.out_row = out.strides[0] * dtype_size(out.dtype);
  e.out_column = out.strides[1] * dtype_size(out.dtype);
  e.by_frequency = args.attrs.get_bool(AttrKey::kScaleGradByFreq, false);
  e.step.kernel = kernel_number("embedding_dense_backward");
  return make_kernel<EmbeddingBackward>(e, out, args.inputs.size());
}

}  // namespace shw::runtime::cuda
