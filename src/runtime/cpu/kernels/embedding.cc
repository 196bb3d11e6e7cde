// embedding(table [rows, width], indices): the table's rows, one for each index.
#include "runtime/cpu/indices.h"

namespace shw::runtime::cpu {
namespace {

class Embedding final : public HostKernel {
 public:
  Embedding(const TensorType& table, const TensorType& indices, const TensorType& out,
            size_t num_inputs)
      : rows_(table.shape[0]),
        row_bytes_(table.strides[0] * dtype_size(table.dtype)),
        output_(num_inputs) {
    Dims beside = out.strides;
    beside.erase(beside.size() - 1);
    for (int64_t& stride : beside) stride *= dtype_size(out.dtype);
    walk_ = IndexWalk(indices, beside);
    copy_row_ = StridedCopy(Dims{table.shape[1]}, dtype_size(table.dtype), Dims{out.strides.back()},
                            Dims{table.strides[1]});
  }
  Status compute(void* const* buffers) noexcept override {
    const auto* table = static_cast<const std::byte*>(buffers[0]);
    return walk_.for_each(buffers[1], buffers[output_],
                          [&](int64_t index, std::byte* to) -> Status {
                            if (index < 0 || index >= rows_)
                              return index_out_of_range(index, rows_);
                            copy_row_.run(to, table + index * row_bytes_);
                            return {};
                          });
  }

 private:
  int64_t rows_, row_bytes_;
  size_t output_;
  IndexWalk walk_;
  StridedCopy copy_row_;
};

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &table = *args.inputs[0], &indices = *args.inputs[1], &out = *args.outputs[0];
  Dims shape = indices.shape;
  if (table.rank() == 2 && indices.rank() < kMaxRank) shape.push_back(table.shape[1]);
  if (table.rank() != 2 || indices.rank() >= kMaxRank || out.shape != shape ||
      out.dtype != table.dtype || !is_index_dtype(indices.dtype))
    return bad_types("rows of " + to_string(table) + " by " + to_string(indices) + " do not make " +
                     to_string(out));
  return make_kernel<Embedding>(table, indices, out, args.inputs.size());
}

}  // namespace

extern const Kernel kEmbedding;
constinit const Kernel kEmbedding = {"embedding", prepare};

}  // namespace shw::runtime::cpu
