// embedding(table [rows, width], indices): one row of the table for each index. With attributes
// `size` and `cuts` the table is this rank's piece of a larger one, and rows on other ranks are
// read as zeros.
#include "runtime/cpu/indices.h"

namespace shw::runtime::cpu {
namespace {

class Embedding final : public HostKernel {
 public:
  Embedding(const TensorType& table, const TensorType& indices, const TensorType& out,
            const TablePart& rows, size_t num_inputs)
      : rows_(rows), row_bytes_(table.strides[0] * dtype_size(table.dtype)), output_(num_inputs) {
    Dims beside = out.strides;
    beside.erase(beside.size() - 1);
    for (int64_t& stride : beside) stride *= dtype_size(out.dtype);
    walk_ = IndexWalk(indices, beside);
    copy_row_ = StridedCopy(Dims{table.shape[1]}, dtype_size(table.dtype), Dims{out.strides.back()},
                            Dims{table.strides[1]});
    zero_row_ = StridedFill({Dims{table.shape[1]}, Dims{out.strides.back()}, out.dtype});
  }
  Status compute(void* const* buffers) override {
    const auto* table = static_cast<const std::byte*>(buffers[0]);
    return walk_.for_each(buffers[1], buffers[output_],
                          [&](int64_t index, std::byte* to) -> Status {
                            if (!rows_.exists(index)) return index_out_of_range(index, rows_.whole);
                            if (rows_.has(index))
                              copy_row_.run(to, table + rows_.position(index) * row_bytes_);
                            else
                              zero_row_.run(to);
                            return {};
                          });
  }

 private:
  TablePart rows_;
  int64_t row_bytes_;
  size_t output_;
  IndexWalk walk_;
  StridedCopy copy_row_;
  StridedFill zero_row_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &table = *args.inputs[0], &indices = *args.inputs[1], &out = *args.outputs[0];
  Dims shape = indices.shape;
  if (table.rank() == 2 && indices.rank() < kMaxRank) shape.push_back(table.shape[1]);
  if (table.rank() != 2 || indices.rank() >= kMaxRank || out.shape != shape ||
      out.dtype != table.dtype || !is_index_dtype(indices.dtype))
    return bad_types("rows of " + to_string(table) + " by " + to_string(indices) + " do not make " +
                     to_string(out));
  SHW_ASSIGN_OR_RETURN(const TablePart rows, table_part(args, table, 0));
  return make_kernel<Embedding>(table, indices, out, rows, args.inputs.size());
}

}  // namespace

extern const Kernel kEmbedding;
constinit const Kernel kEmbedding = {"embedding", prepare};

}  // namespace shw::runtime::cpu
