// index_put(self, values, indices…): self, but with the values – broadcast – where the index
// tensors together point (multi_index.h); with attrs.accumulate they are added. In row-major order
// of what is indexed: of several for one place the last stays.
#include <algorithm>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/multi_index.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class IndexPut final : public HostKernel {
 public:
  IndexPut(const KernelArgs& args, const MultiIndex& indices)
      : indices_(indices),
        ground_(*args.outputs[0], *args.inputs[0]),
        adds_(args.attrs.get_bool(AttrKey::kAccumulate, false)),
        load_(load_row<T>(args.outputs[0]->dtype)),
        store_(store_row<T>(args.outputs[0]->dtype)),
        output_(args.inputs.size()) {}
  Status compute(void* const* buffers) override {
    const auto* values = static_cast<const std::byte*>(buffers[1]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    ground_.run(out, buffers[0]);
    return indices_.for_each(buffers, [&](int64_t to, int64_t from) {
      if (to < 0) return;
      T value, before;
      load_(values + from, 0, 1, &value);
      if (adds_) {
        load_(out + to, 0, 1, &before);
        value = before + value;
      }
      store_(&value, 1, out + to, 0);
    });
  }

 private:
  MultiIndex indices_;
  StridedCast ground_;
  bool adds_;
  LoadRow<T> load_;
  StoreRow<T> store_;
  size_t output_;
};

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(3, args.inputs.size())));
  const TensorType &self = *args.inputs[0], &values = *args.inputs[1], &out = *args.outputs[0];
  if (self.shape != out.shape || self.dtype != out.dtype || values.dtype != out.dtype)
    return bad_types(to_string(values) + " is not put into " + to_string(self) + " in " +
                     to_string(out));
  SHW_ASSIGN_OR_RETURN(const MultiIndex indices,
                       MultiIndex::create(args, out, 2, values, /*exact=*/false));
  return with_compute_type(out.dtype, [&](auto t) -> Prepared {
    return make_kernel<IndexPut<decltype(t)>>(args, indices);
  });
}

}  // namespace

extern const Kernel kIndexPut;
constinit const Kernel kIndexPut = {"index_put", prepare};

}  // namespace shw::runtime::cpu
