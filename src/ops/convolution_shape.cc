#include "ops/convolution.h"

namespace shw::ops {
namespace {

// One number a spatial dim, each at least `least`.
Result<Dims> per_dim(const Attrs& attrs, AttrKey key, size_t dims, int64_t otherwise,
                     int64_t least) {
  const std::vector<int64_t>& given = attrs.get_ints(key);
  constexpr int64_t kMost = int64_t{1} << 31;  // so that products of two do not overflow
  Dims values(dims, otherwise);
  bool fits = given.empty() || given.size() == 1 || given.size() == dims;
  for (size_t d = 0; fits && d < dims && !given.empty(); ++d) {
    values[d] = given[given.size() == 1 ? 0 : d];
    fits = values[d] >= least && values[d] < kMost;
  }
  if (!fits)
    return invalid_argument(std::string(attr_key_name(key)) + ": expected one or " +
                            std::to_string(dims) + " numbers, " + std::to_string(least) +
                            " or more");
  return values;
}

}  // namespace

Result<Convolution> convolution_of(const Attrs& attrs, const TensorType& input,
                                   const TensorType& weight) {
  if (attrs.get_bool(AttrKey::kTransposed, false)) return unimplemented("transposed convolutions");
  const auto refuse = [&](const std::string& why) {
    return invalid_argument("convolution of " + to_string(input) + " with " + to_string(weight) +
                            ": " + why);
  };
  if (input.rank() < 3 || input.rank() > 5 || weight.rank() != input.rank())
    return refuse("expected [N,C,…] and [O,C,…] with one to three spatial dims");
  if (input.dtype != weight.dtype || !is_floating(input.dtype))
    return refuse("expected floating-point operands of one dtype");
  const size_t dims = input.shape.size() - 2;
  Convolution c;
  SHW_ASSIGN_OR_RETURN(c.stride, per_dim(attrs, AttrKey::kStride, dims, 1, 1));
  SHW_ASSIGN_OR_RETURN(c.padding, per_dim(attrs, AttrKey::kPadding, dims, 0, 0));
  SHW_ASSIGN_OR_RETURN(c.dilation, per_dim(attrs, AttrKey::kDilation, dims, 1, 1));
  c.groups = attrs.get_int(AttrKey::kGroups, 1);
  if (c.groups < 1 || weight.shape[0] % c.groups != 0 || input.shape[1] % c.groups != 0 ||
      weight.shape[1] != input.shape[1] / c.groups)
    return refuse("channels do not fit " + std::to_string(c.groups) + " groups");
  c.shape = {input.shape[0], weight.shape[0]};
  for (size_t d = 0; d < dims; ++d) {
    constexpr int64_t kMost = int64_t{1} << 31;
    const int64_t kernel = weight.shape[d + 2], size = input.shape[d + 2];
    if (kernel < 1 || kernel >= kMost || size >= kMost)
      return refuse("spatial dim " + std::to_string(d) + " is empty or too large");
    const int64_t room = size + 2 * c.padding[d] - c.dilation[d] * (kernel - 1) - 1;
    if (room < 0) return refuse("the kernel is larger than spatial dim " + std::to_string(d));
    c.shape.push_back(room / c.stride[d] + 1);
  }
  return c;
}

bool cuts_into_patches(const Convolution& c, const Dims& input, const Dims& weight, size_t dim) {
  const int64_t kernel = weight[dim + 2];
  return c.padding[dim] == 0 && c.dilation[dim] == 1 && c.stride[dim] == kernel &&
         input[dim + 2] == c.shape[dim + 2] * kernel;
}

double convolution_flops(const Convolution& c, const Dims& weight) {
  double flops = 2;
  for (int64_t n : c.shape) flops *= static_cast<double>(n);
  for (size_t d = 1; d < weight.size(); ++d) flops *= static_cast<double>(weight[d]);
  return flops;
}

}  // namespace shw::ops
