// Pooling. A window is a product of ranges, one per dim, so its maximum or sum is computed dim by
// dim: the elements of all windows become [windows, kernel] in place of the dim, and the kernel dim
// is reduced.
#include <algorithm>

#include "import/onnx/table.h"
#include "import/onnx/window.h"

namespace shw::import::onnx {
namespace {

// One spatial dim. Positions count from the first element of the tensor.
struct Range {
  int64_t size = 0, kernel = 0, stride = 0, dilation = 0, before = 0, behind = 0, windows = 0;

  int64_t start(int64_t window) const { return window * stride - before; }
  int64_t at(int64_t window, int64_t i) const { return start(window) + i * dilation; }
  // How many elements of a window lie in positions [first, last).
  int64_t count(int64_t window, int64_t first, int64_t last) const {
    int64_t found = 0;
    for (int64_t i = 0; i < kernel; ++i) found += at(window, i) >= first && at(window, i) < last;
    return found;
  }
};

constexpr int64_t kMost = int64_t{1} << 20;  // of a size and of a kernel; products do not overflow

// With ceil_mode the last window may extend beyond the padding of `pads`, but must not begin there.
int64_t num_windows(const Range& r, bool ceil) {
  const int64_t room = r.before + r.size + r.behind - ((r.kernel - 1) * r.dilation + 1);
  if (room < 0) return 0;
  if (!ceil || room % r.stride == 0) return room / r.stride + 1;
  const int64_t more = room / r.stride + 2;
  return (more - 1) * r.stride >= r.before + r.size ? more - 1 : more;
}

// Empty after a failure.
std::vector<Range> ranges_of(Node& n, NodeId x) {
  n.require("kernel_shape");
  const Window w = window_of(n, n.attr_ints("kernel_shape"));
  const std::vector<int64_t> pads = pads_of(n, x, w);
  const bool ceil = n.attr("ceil_mode", int64_t{0}) != 0;
  const size_t dims = w.kernel.size();
  if (n.ok() && (dims == 0 || n.rank(x) != static_cast<int64_t>(dims) + 2))
    n.fail(invalid_argument("a window of " + std::to_string(dims) + " dims over " +
                            to_string(n.type(x))));
  if (n.ok() && n.emit().has_symbols(x))
    n.fail(unimplemented("inputs with symbolic sizes are not supported"));
  std::vector<Range> ranges;
  for (size_t d = 0; d < dims && n.ok(); ++d) {
    Range r{n.type(x).shape[d + 2], w.kernel[d], w.stride[d],
            w.dilation[d],          pads[d],     pads[dims + d]};
    for (int64_t v : {r.size, r.kernel, r.stride, r.dilation})
      if (v < 1 || v > kMost) n.fail(invalid_argument("a size or an attribute is out of range"));
    if (std::min(r.before, r.behind) < 0 || std::max(r.before, r.behind) > kMost)
      n.fail(invalid_argument("pads are out of range"));
    if (!n.ok()) break;
    r.windows = num_windows(r, ceil);
    if (r.windows < 1) n.fail(invalid_argument("the window is larger than the padded tensor"));
    if (r.windows > kMost / r.kernel) n.fail(unimplemented("pooling over so many elements"));
    for (int64_t o = 0; o < r.windows && n.ok(); ++o)
      n.refuse_if(r.count(o, 0, r.size) == 0,
                  "windows that contain only padding are not supported");
    ranges.push_back(r);
  }
  return n.ok() ? ranges : std::vector<Range>();
}

// Selects the elements at `places`, [windows, kernel], of dim `dim`, and reduces each window.
NodeId reduced(Node& n, NodeId x, size_t dim, const Range& r, const std::vector<int64_t>& places,
               OpKind op) {
  const NodeId index = n.constant(places, Dims{static_cast<int64_t>(places.size())});
  const NodeId laid_out = n.add(OpKind::kIndexSelect, {x, index}, {{AttrKey::kDim, dim}});
  if (!n.ok()) return laid_out;
  Exprs shape = n.emit().sizes(laid_out);
  shape[dim] = Expr{r.windows, {}};
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(dim) + 1, Expr{r.kernel, {}});
  return n.add(op, {n.view(laid_out, shape)},
               {{AttrKey::kDims, std::vector{static_cast<int64_t>(dim) + 1}}});
}

// Padding elements are replaced by the next element of the window that is in the tensor. This
// changes no maximum.
std::vector<int64_t> places_within(const Range& r) {
  std::vector<int64_t> places;
  for (int64_t o = 0; o < r.windows; ++o)
    for (int64_t i = 0; i < r.kernel; ++i) {
      int64_t at = r.at(o, i);
      if (at < 0) at += (r.dilation - 1 - at) / r.dilation * r.dilation;
      if (at >= r.size) at -= (at - r.size + r.dilation) / r.dilation * r.dilation;
      places.push_back(at);
    }
  return places;
}

void max_pool(Node& n) {
  n.skip("storage_order");  // order of the indices
  n.refuse_if(n.wants(1), "output Indices (the positions of the maxima) is not supported");
  NodeId x = n.in();
  const std::vector<Range> ranges = ranges_of(n, x);
  for (size_t d = 0; d < ranges.size(); ++d)
    x = reduced(n, x, d + 2, ranges[d], places_within(ranges[d]), OpKind::kAmax);
  n.out(x);
}

// The divisors of the sums over dim `dim`.
NodeId divided(Node& n, NodeId x, size_t dim, const Range& r, bool with_padding) {
  std::vector<int64_t> counts;
  for (int64_t o = 0; o < r.windows; ++o)
    counts.push_back(with_padding ? r.count(o, -r.before, r.size + r.behind)
                                  : r.count(o, 0, r.size));
  if (std::equal(counts.begin() + 1, counts.end(), counts.begin()))
    return n.binary(OpKind::kDiv, x, static_cast<double>(counts[0]));
  const NodeId each = n.cast(n.constant(counts, Dims{r.windows}), n.type(x).dtype);
  return n.binary(OpKind::kDiv, x, n.along(each, dim, n.rank(x)));
}

void average_pool(Node& n) {
  const bool with_padding = n.attr("count_include_pad", int64_t{0}) != 0;
  NodeId x = n.in();
  const std::vector<Range> ranges = ranges_of(n, x);
  std::vector<int64_t> pads(2 * ranges.size());
  for (size_t d = 0; d < ranges.size(); ++d) {
    const Range& r = ranges[d];
    pads[d] = r.before;
    pads[ranges.size() + d] = std::max<int64_t>(0, r.at(r.windows - 1, r.kernel - 1) + 1 - r.size);
  }
  if (pads != std::vector<int64_t>(pads.size())) x = pad_spatial_dims(n, x, pads);
  for (size_t d = 0; d < ranges.size(); ++d) {
    const Range& r = ranges[d];
    std::vector<int64_t> places;
    for (int64_t o = 0; o < r.windows; ++o)
      for (int64_t i = 0; i < r.kernel; ++i) places.push_back(r.before + r.at(o, i));
    x = divided(n, reduced(n, x, d + 2, r, places, OpKind::kSum), d + 2, r, with_padding);
  }
  n.out(x);
}

template <OpKind kOp>
void global_pool(Node& n) {
  const NodeId x = n.in();
  if (n.ok() && n.rank(x) < 3) return n.fail(invalid_argument("expected spatial dims"));
  std::vector<int64_t> dims;
  for (int64_t d = 2; d < n.rank(x); ++d) dims.push_back(d);
  n.out(n.add(kOp, {x}, {{AttrKey::kDims, dims}, {AttrKey::kKeepDim, true}}));
}

constexpr Mapper kPoolMappers[] = {
    {"AveragePool", average_pool, 7},
    {"GlobalAveragePool", global_pool<OpKind::kMean>, 1},
    {"GlobalMaxPool", global_pool<OpKind::kAmax>, 1},
    {"MaxPool", max_pool, 1},
};

}  // namespace

std::span<const Mapper> pool_mappers() { return kPoolMappers; }

}  // namespace shw::import::onnx
