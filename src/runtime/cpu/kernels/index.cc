// index(self, indices…): the elements of self that the index tensors together point at
// (multi_index.h).
#include <algorithm>
#include <cstring>

#include "runtime/cpu/multi_index.h"

namespace shw::runtime::cpu {
namespace {

class Index final : public HostKernel {
 public:
  Index(const MultiIndex& indices, int64_t item, size_t output)
      : indices_(indices), item_(item), output_(output) {}
  Status compute(void* const* buffers) override {
    const auto* self = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    const MultiIndex::Row row = indices_.row();
    const bool is_dense = row.table_step == item_ && row.other_step == item_;
    const auto bytes = static_cast<size_t>(is_dense ? row.size * item_ : item_);
    const int64_t pieces = is_dense ? 1 : row.size;
    return indices_.for_each_row(buffers, [&](int64_t from, int64_t to) {
      for (int64_t i = 0; i < pieces; ++i)
        if (from >= 0)
          std::memcpy(out + to + i * row.other_step, self + from + i * row.table_step, bytes);
        else
          std::memset(out + to + i * row.other_step, 0, bytes);
    });
  }

 private:
  MultiIndex indices_;
  int64_t item_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(2, args.inputs.size())));
  const TensorType &self = *args.inputs[0], &out = *args.outputs[0];
  if (self.dtype != out.dtype)
    return bad_types(to_string(out) + " does not hold elements of " + to_string(self));
  SHW_ASSIGN_OR_RETURN(const MultiIndex indices,
                       MultiIndex::create(args, self, 1, out, /*exact=*/true));
  return make_kernel<Index>(indices, dtype_size(out.dtype), args.inputs.size());
}

}  // namespace

extern const Kernel kIndex;
constinit const Kernel kIndex = {"index", prepare};

}  // namespace shw::runtime::cpu
