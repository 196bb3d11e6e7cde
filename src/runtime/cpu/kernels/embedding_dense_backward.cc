// embedding_dense_backward(grad […, width], indices): the gradient of an embedding's table. Row r
// is the sum, in the order of the indices, of the gradients whose index is r; it is zero for
// attrs.padding_idx, and is divided by their number if attrs.scale_grad_by_freq.
//
// With attributes `size` and `cuts` the result is this rank's piece of a larger table, and
// gradients of other rows are left out.
//
// Gradients are first listed by row (a counting sort), so that each row is summed in f32 at once
// and rounded once, however many gradients it has and whatever the dtype.
#include <cstring>

#include "runtime/cpu/indices.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kChunk = 512;  // columns that are summed at a time, on the stack

template <class T>
class EmbeddingDenseBackward final : public HostKernel {
 public:
  EmbeddingDenseBackward(const KernelArgs& args, const TablePart& range)
      : range_(range),
        rows_(args.outputs[0]->shape[0]),
        width_(args.outputs[0]->shape[1]),
        count_(args.inputs[1]->numel()),
        padding_(args.attrs.get_int(AttrKey::kPaddingIdx, -1) - range.first),
        by_frequency_(args.attrs.get_bool(AttrKey::kScaleGradByFreq, false)),
        output_(args.inputs.size()),
        load_(load_row<T>(args.inputs[0]->dtype)),
        store_(store_row<T>(args.outputs[0]->dtype)) {
    const TensorType &grad = *args.inputs[0], &out = *args.outputs[0];
    const int64_t in_bytes = dtype_size(grad.dtype), out_bytes = dtype_size(out.dtype);
    Dims beside = grad.strides;
    beside.erase(beside.size() - 1);
    for (int64_t& stride : beside) stride *= in_bytes;
    walk_ = IndexWalk(*args.inputs[1], beside);
    grad_stride_ = grad.strides.back() * in_bytes;
    row_stride_ = out.strides[0] * out_bytes;
    column_stride_ = out.strides[1] * out_bytes;
  }

  // Where each row's list begins (one more than rows), then the lists.
  int64_t workspace_bytes() const override {
    return (rows_ + 1 + count_) * static_cast<int64_t>(sizeof(int64_t));
  }

  Status compute(void* const* buffers) override {
    auto* first = static_cast<int64_t*>(buffers[output_ + 1]);
    SHW_RETURN_IF_ERROR(list_by_row(buffers, first));
    const int64_t* lists = first + rows_ + 1;
    const auto* grad = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for (int64_t r = 0; r < rows_; ++r) {
      // After the sort, first[r] is the end of row r's list, which is the begin of the next.
      const int64_t begin = r == 0 ? 0 : first[r - 1];
      const int64_t end = r == padding_ ? begin : first[r];
      for (int64_t c = 0; c < width_; c += kChunk)
        sum_columns(grad + c * grad_stride_, lists + begin, end - begin,
                    std::min(kChunk, width_ - c), out + r * row_stride_ + c * column_stride_);
    }
    return {};
  }

 private:
  Status list_by_row(void* const* buffers, int64_t* first) const {
    std::memset(first, 0, static_cast<size_t>(rows_ + 1) * sizeof(int64_t));
    auto* grad = static_cast<std::byte*>(buffers[0]);
    SHW_RETURN_IF_ERROR(walk_.for_each(buffers[1], grad, [&](int64_t index, std::byte*) -> Status {
      if (!range_.exists(index)) return index_out_of_range(index, range_.whole);
      if (range_.has(index)) ++first[range_.position(index) + 1];
      return {};
    }));
    for (int64_t r = 0; r < rows_; ++r) first[r + 1] += first[r];
    int64_t* lists = first + rows_ + 1;
    return walk_.for_each(buffers[1], grad, [&](int64_t index, std::byte* from) -> Status {
      if (range_.has(index)) lists[first[range_.position(index)]++] = from - grad;
      return {};
    });
  }

  void sum_columns(const std::byte* grad, const int64_t* offsets, int64_t count, int64_t n,
                   std::byte* to) const {
    T sums[kChunk] = {}, values[kChunk];
    for (int64_t i = 0; i < count; ++i) {
      load_(grad + offsets[i], grad_stride_, n, values);
      vector_loop(n, [&](int64_t j) { sums[j] = sums[j] + values[j]; });
    }
    if (by_frequency_ && count > 1)
      for (int64_t j = 0; j < n; ++j) sums[j] /= static_cast<T>(count);
    store_(sums, n, to, column_stride_);
  }

  TablePart range_;
  int64_t rows_, width_, count_, padding_;
  bool by_frequency_;
  size_t output_;
  LoadRow<T> load_;
  StoreRow<T> store_;
  IndexWalk walk_;
  int64_t grad_stride_, row_stride_, column_stride_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &grad = *args.inputs[0], &indices = *args.inputs[1], &out = *args.outputs[0];
  Dims shape = indices.shape;
  if (out.rank() == 2 && indices.rank() < kMaxRank) shape.push_back(out.shape[1]);
  if (out.rank() != 2 || indices.rank() >= kMaxRank || grad.shape != shape ||
      !is_index_dtype(indices.dtype) || !is_floating(grad.dtype) || !is_floating(out.dtype))
    return bad_types("gradients " + to_string(grad) + " by " + to_string(indices) +
                     " do not make " + to_string(out));
  SHW_ASSIGN_OR_RETURN(const TablePart range, table_part(args, out, 0));
  if (args.attrs.get_int(AttrKey::kNumWeights, range.whole) != range.whole)
    return bad_types(to_string(out) + " is a piece of a table of " + std::to_string(range.whole) +
                     " rows, expected as many as attribute 'num_weights' says");
  SHW_RETURN_IF_ERROR(check_size({out.shape[0]}));
  SHW_RETURN_IF_ERROR(check_size({indices.numel()}));
  if (out.dtype == Dtype::kF64) return make_kernel<EmbeddingDenseBackward<double>>(args, range);
  return make_kernel<EmbeddingDenseBackward<float>>(args, range);
}

}  // namespace

extern const Kernel kEmbeddingDenseBackward;
constinit const Kernel kEmbeddingDenseBackward = {"embedding_dense_backward", prepare};

}  // namespace shw::runtime::cpu
