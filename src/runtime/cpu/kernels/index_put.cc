// index_put(self, values, indices…): self, but with the values – broadcast – where the index
// tensors together point (multi_index.h); with attrs.accumulate they are added. In row-major order
// of what is indexed: of several for one place the last stays.
#include <algorithm>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/combine.h"
#include "runtime/cpu/multi_index.h"
#include "runtime/index_shape.h"

namespace shw::runtime::cpu {
namespace {

class IndexPut final : public HostKernel {
 public:
  IndexPut(const KernelArgs& args, const MultiIndex& indices, Combine how)
      : indices_(indices),
        ground_(*args.outputs[0], *args.inputs[0]),
        how_(how),
        dtype_(args.outputs[0]->dtype),
        row_(combine_row(how, dtype_)),
        output_(args.inputs.size()) {}
  Status compute(void* const* buffers) override {
    const auto* values = static_cast<const std::byte*>(buffers[1]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    ground_.run(out, buffers[0]);
    const MultiIndex::Row row = indices_.row();
    return indices_.for_each_row(buffers, [&](int64_t to, int64_t from) {
      if (to >= 0)
        row_(how_, dtype_, values + from, row.other_step, row.size, out + to, row.table_step);
    });
  }

 private:
  MultiIndex indices_;
  StridedCast ground_;
  Combine how_;
  Dtype dtype_;
  CombineRow row_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(3, args.inputs.size())));
  const TensorType& values = *args.inputs[1];
  SHW_RETURN_IF_ERROR(check_written(args, &values));
  SHW_ASSIGN_OR_RETURN(const MultiIndex indices,
                       MultiIndex::create(args, *args.outputs[0], 2, values, /*exact=*/false));
  const bool adds = args.attrs.get_bool(AttrKey::kAccumulate, false);
  return make_kernel<IndexPut>(args, indices, adds ? Combine::kAdd : Combine::kReplace);
}

}  // namespace

extern const Kernel kIndexPut;
constinit const Kernel kIndexPut = {"index_put", prepare};

}  // namespace shw::runtime::cpu
