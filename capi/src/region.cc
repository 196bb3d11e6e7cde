// shw_region.
#include "region.h"

#include <algorithm>

#include "boundary.h"
#include "group.h"
#include "runtime/hal.h"
#include "runtime/host_kernel.h"

namespace shw::capi {
namespace {

Code code_of(shw_code code) {
  return code > SHW_OK && code <= SHW_DATA_LOSS ? static_cast<Code>(code) : Code::kUnknown;
}

// One region of a plan on one rank. The description for the body is prepared once; each call fills
// in the addresses.
class RegionKernel final : public runtime::HostKernel {
 public:
  RegionKernel(std::string name, shw_region_fn body, void* user, const runtime::RegionArgs& args)
      : name_(std::move(name)), body_(body), user_(user) {
    for (const auto& types : {args.inputs, args.outputs})
      for (const TensorType* type : types) types_.push_back(type ? *type : TensorType{});
    size_t next = 0;
    for (const auto& types : {args.inputs, args.outputs})
      for (const TensorType* type : types) tensors_.push_back(tensor_of(types_[next++], type));
    for (int m = 0; m < args.mesh.rank(); ++m) {
      coordinates_.push_back(args.mesh.coordinate(args.rank, m));
      mesh_.push_back(args.mesh.size(m));
    }
    call_.struct_size = sizeof call_;
    call_.region = name_.c_str();
    call_.inputs = tensors_.data();
    call_.num_inputs = args.inputs.size();
    call_.outputs = tensors_.data() + args.inputs.size();
    call_.num_outputs = args.outputs.size();
    call_.coordinates = coordinates_.data();
    call_.mesh = mesh_.data();
    call_.num_axes = args.mesh.rank();
    call_.rank = static_cast<int32_t>(args.rank);
    for (runtime::RegionGroup* group : args.groups) groups_.push_back({group});
    for (shw_group& group : groups_) handles_.push_back(&group);
    call_.groups = handles_.data();
    call_.num_groups = handles_.size();
  }

  Status compute(void* const* buffers) override {
    for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].data = buffers[i];
    const shw_code code = body_(user_, &call_);
    if (Status error = take_error(); !error.ok()) return error;
    if (code == SHW_OK) return {};
    return {code_of(code),
            "the body of region '" + name_ + "' failed with code " + std::to_string(code)};
  }

 private:
  // An error of a collective that the body called; it says more than the body's return code.
  Status take_error() {
    Status first;
    for (const shw_group& group : groups_) {
      Status error = group.ref->take_error();
      if (first.ok()) first = std::move(error);
    }
    return first;
  }

  static shw_tensor tensor_of(const TensorType& type, bool is_there) {
    shw_tensor tensor{};
    if (!is_there) return tensor;
    tensor.dims = type.shape.begin();
    tensor.strides = type.strides.begin();
    tensor.rank = type.rank();
    tensor.dtype = static_cast<shw_dtype>(type.dtype);
    tensor.device_kind = SHW_DEVICE_CPU;
    return tensor;
  }

  const std::string name_;
  const shw_region_fn body_;
  void* const user_;
  std::vector<TensorType> types_;  // inputs, then outputs; what `tensors_` points into
  std::vector<shw_tensor> tensors_;
  std::vector<int64_t> coordinates_, mesh_;
  std::vector<shw_group> groups_;
  std::vector<shw_group*> handles_;  // of groups_
  shw_region_call call_{};
};

}  // namespace

Result<std::vector<runtime::RegionBody>> read_regions(const shw_region* regions, size_t count) {
  std::vector<runtime::RegionBody> bodies;
  if (count != 0) SHW_WANT(regions);
  for (size_t i = 0; i < count; ++i) {
    const shw_region& r = regions[i];
    const std::string me = "regions[" + std::to_string(i) + "]";
    if (r.name == nullptr || *r.name == '\0') return invalid_argument(me + " has no name");
    if (r.run == nullptr) return invalid_argument(me + ", '" + r.name + "', has no function");
    std::string name = r.name;
    if (std::ranges::find(bodies, name, &runtime::RegionBody::name) != bodies.end())
      return invalid_argument(me + ": there are two regions '" + name + "'");
    auto prepare =
        [name, run = r.run, user = r.user](
            runtime::Device& device,
            const runtime::RegionArgs& args) -> Result<std::unique_ptr<runtime::PreparedKernel>> {
      if (!device.can().host_access)
        return unimplemented("the body of region '" + name + "' runs on the host, which cannot " +
                             "reach the memory of a " + std::string(device.device_class().name) +
                             " device");
      return std::unique_ptr<runtime::PreparedKernel>(
          std::make_unique<RegionKernel>(name, run, user, args));
    };
    bodies.push_back({std::move(name), std::move(prepare)});
  }
  return bodies;
}

}  // namespace shw::capi
