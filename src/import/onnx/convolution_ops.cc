// Convolutions, and pooling over everything.
#include <algorithm>

#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

struct Window {
  std::vector<int64_t> kernel, stride, dilation;
};

// What auto_pad adds before and behind each spatial dim, as the attribute `pads` orders them.
std::vector<int64_t> automatic_pads(Node& n, NodeId x, const Window& w, bool upper) {
  if (n.emit().has_symbols(x)) n.fail(unimplemented("auto_pad of sizes that hold symbols"));
  const size_t dims = w.kernel.size();
  std::vector<int64_t> pads(2 * dims, 0);
  for (size_t d = 0; d < dims && n.ok(); ++d) {
    const int64_t size = n.type(x).shape[d + 2];
    if (size >= int64_t{1} << 31 || w.stride[d] < 1 || w.kernel[d] >= int64_t{1} << 31 ||
        w.dilation[d] < 1 || w.dilation[d] >= int64_t{1} << 31) {
      n.fail(invalid_argument("strides, dilations or sizes are out of range"));
      return pads;
    }
    const int64_t steps = (size + w.stride[d] - 1) / w.stride[d];
    const int64_t total = std::max<int64_t>(
        0, (steps - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1 - size);
    pads[d] = upper ? total / 2 : total - total / 2;
    pads[dims + d] = total - pads[d];
  }
  return pads;
}

std::vector<int64_t> pads_of(Node& n, NodeId x, const Window& w) {
  const std::string kind = n.attr("auto_pad", "NOTSET");
  const std::vector<int64_t> given = n.attr_ints("pads", std::vector<int64_t>(2 * w.kernel.size()));
  if (kind == "SAME_UPPER" || kind == "SAME_LOWER")
    return automatic_pads(n, x, w, kind == "SAME_UPPER");
  if (kind == "VALID") return std::vector<int64_t>(2 * w.kernel.size());
  if (kind != "NOTSET") n.fail(invalid_argument("auto_pad '" + kind + "' is unknown"));
  if (given.size() != 2 * w.kernel.size()) n.fail(invalid_argument("pads has a wrong length"));
  return given;
}

// One number a spatial dim.
std::vector<int64_t> per_dim(Node& n, std::string_view name, size_t dims) {
  std::vector<int64_t> v = n.attr_ints(name, std::vector<int64_t>(dims, 1));
  if (v.size() != dims)
    n.fail(invalid_argument("attribute '" + std::string(name) + "' has a wrong length"));
  return v;
}

// Zeros that are not the same on both sides come from a step of their own.
NodeId padded(Node& n, NodeId x, std::vector<int64_t>& pads) {
  const size_t dims = pads.size() / 2;
  if (std::equal(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(dims),
                 pads.begin() + static_cast<ptrdiff_t>(dims)))
    return x;
  std::vector<int64_t> last_first;
  for (size_t d = dims; d-- > 0;) {
    last_first.push_back(pads[d]);
    last_first.push_back(pads[dims + d]);
  }
  std::fill(pads.begin(), pads.end(), 0);
  return n.add(OpKind::kPad, {x}, {{AttrKey::kPad, last_first}});
}

void conv(Node& n) {
  NodeId x = n.in(0);
  const NodeId weight = n.in(1), bias = n.in_or_none(2);
  if (!n.ok()) return;
  if (n.rank(x) < 3 || n.rank(weight) != n.rank(x))
    return n.fail(invalid_argument("a convolution of " + to_string(n.type(x)) + " with " +
                                   to_string(n.type(weight))));
  const auto dims = static_cast<size_t>(n.rank(x) - 2);
  const Dims& shape = n.type(weight).shape;
  const std::vector<int64_t> kernel(shape.begin() + 2, shape.end());
  if (n.attr_ints("kernel_shape", kernel) != kernel)
    return n.fail(invalid_argument("kernel_shape is not that of the weight"));
  const Window w{kernel, per_dim(n, "strides", dims), per_dim(n, "dilations", dims)};
  const int64_t groups = n.attr("group", int64_t{1});
  std::vector<int64_t> pads = pads_of(n, x, w);
  if (!n.ok()) return;
  x = padded(n, x, pads);
  pads.resize(dims);
  n.out(n.add(OpKind::kConvolution, {x, weight, bias},
              {{AttrKey::kStride, w.stride},
               {AttrKey::kPadding, pads},
               {AttrKey::kDilation, w.dilation},
               {AttrKey::kGroups, groups}}));
}

template <OpKind kOp>
void global_pool(Node& n) {
  const NodeId x = n.in();
  if (n.ok() && n.rank(x) < 3) return n.fail(invalid_argument("expected spatial dims"));
  std::vector<int64_t> dims;
  for (int64_t d = 2; d < n.rank(x); ++d) dims.push_back(d);
  n.out(n.add(kOp, {x}, {{AttrKey::kDims, dims}, {AttrKey::kKeepDim, true}}));
}

constexpr Mapper kMappers[] = {
    {"Conv", conv, 1},
    {"GlobalAveragePool", global_pool<OpKind::kMean>, 1},
    {"GlobalMaxPool", global_pool<OpKind::kAmax>, 1},
};

}  // namespace

std::span<const Mapper> convolution_mappers() { return kMappers; }

}  // namespace shw::import::onnx
