#include "runtime/region.h"

#include <vector>

#include "runtime/host_kernel.h"

namespace shw::runtime {
namespace {

class RegionKernel final : public HostKernel {
 public:
  RegionKernel(const Region& region, const KernelArgs& args) : region_(region), rank_(args.rank) {
    // Types are copied: the program's may not live as long.
    types_.reserve(args.inputs.size() + args.outputs.size());
    for (const auto& list : {args.inputs, args.outputs})
      for (const TensorType* t : list) {
        if (t != nullptr) types_.push_back(*t);
        tensors_.push_back({t == nullptr ? nullptr : &types_.back(), nullptr});
      }
    num_inputs_ = args.inputs.size();
  }
  Status compute(void* const* buffers) noexcept override {
    for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].data = buffers[i];
    const std::span<const RegionTensor> all(tensors_);
    return region_.body(rank_, all.first(num_inputs_), all.subspan(num_inputs_));
  }

 private:
  const Region& region_;
  int64_t rank_;
  std::vector<TensorType> types_;
  std::vector<RegionTensor> tensors_;  // inputs, outputs
  size_t num_inputs_;
};

}  // namespace

Result<std::unique_ptr<PreparedKernel>> prepare_region(const KernelArgs& args,
                                                       std::span<const Region> regions) {
  const std::string_view name = args.attrs.get_string(AttrKey::kRegion);
  for (const Region& r : regions)
    if (r.name == name) return std::unique_ptr<PreparedKernel>(new RegionKernel(r, args));
  return unimplemented("the manual region '" + std::string(name) +
                       "' has no body here: give one when the executor is created");
}

}  // namespace shw::runtime
