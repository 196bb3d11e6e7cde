#include "import/onnx/window.h"

#include <algorithm>

namespace shw::import::onnx {
namespace {

// One number per spatial dim.
std::vector<int64_t> per_dim(Node& n, std::string_view name, size_t dims) {
  std::vector<int64_t> v = n.attr_ints(name, std::vector<int64_t>(dims, 1));
  if (v.size() != dims)
    n.fail(invalid_argument("attribute '" + std::string(name) + "' has a wrong length"));
  return v;
}

// The padding of auto_pad before and after each spatial dim, in the order of the attribute `pads`.
std::vector<int64_t> automatic_pads(Node& n, NodeId x, const Window& w, bool upper) {
  if (n.emit().has_symbols(x))
    n.fail(unimplemented("auto_pad is not supported for inputs with symbolic sizes"));
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

}  // namespace

Window window_of(Node& n, std::vector<int64_t> kernel) {
  const size_t dims = kernel.size();
  return {std::move(kernel), per_dim(n, "strides", dims), per_dim(n, "dilations", dims)};
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

NodeId pad_spatial_dims(Node& n, NodeId x, const std::vector<int64_t>& pads) {
  std::vector<int64_t> last_first;
  for (size_t d = pads.size() / 2; d-- > 0;) {
    last_first.push_back(pads[d]);
    last_first.push_back(pads[pads.size() / 2 + d]);
  }
  return n.add(OpKind::kPad, {x}, {{AttrKey::kPad, last_first}});
}

}  // namespace shw::import::onnx
