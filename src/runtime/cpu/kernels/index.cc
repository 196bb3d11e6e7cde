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
      : indices_(indices), item_(static_cast<size_t>(item)), output_(output) {}
  Status compute(void* const* buffers) override {
    const auto* self = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    return indices_.for_each(buffers, [&](int64_t from, int64_t to) {
      if (from >= 0)
        std::memcpy(out + to, self + from, item_);
      else
        std::memset(out + to, 0, item_);
    });
  }

 private:
  MultiIndex indices_;
  size_t item_, output_;
};

Prepared prepare(const KernelArgs& args) {
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
