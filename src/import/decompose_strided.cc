// Operations that address elements by position: strided windows of memory, diagonals, rolls,
// unfolding, and padding with existing elements.
#include <algorithm>
#include <numeric>

#include "import/decompose.h"
#include "ops/families.h"
#include "support/stable_sort.h"

namespace shw::import::decompose {
namespace {

// "flat": the elements of a tensor in memory order; "order": the dims in that order.
void flatten(Expansion& e, std::string_view name) {
  const TensorType type = e.recorded(name);
  Dims order(type.shape.size(), 0);
  std::iota(order.begin(), order.end(), 0);
  sort_stably(order, [&](int64_t a, int64_t b) {
    return type.strides[static_cast<size_t>(a)] > type.strides[static_cast<size_t>(b)];
  });
  int64_t size = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    if (type.shape[d] > 1 && type.strides[d] != size)
      return e.refuse_void("the tensor has gaps or overlaps in memory");
    size *= type.shape[d];
  }
  e.bind_ints("order", order);
  e.bind("source", e.at(name));
  e.run("flat = view(permute(source, order), [-1]); flat");
}

// "places": the positions in "flat" of the window's elements. Returns true if the window is all of
// "flat", in order.
bool find_places(Expansion& e) {
  const Dims size = e.get_ints("size"), stride = e.get_ints("stride");
  const int64_t offset = e.get_int("storage_offset", 0);
  if (size.size() != stride.size()) {
    e.refuse("size and stride do not have one number for each dim");
    return false;
  }
  TensorType window = row_major(Dtype::kI64, size);
  window.strides = stride;
  if (const Status s = check_tensor_type(window); !s.ok()) {
    e.refuse("size or stride is out of range");
    return false;
  }
  if (offset == 0 && window.contiguous() && window.numel() == e.type("flat").numel()) return true;
  e.bind_int("offset", offset);
  e.run("places = add(iota(1), offset); places");
  for (size_t d = 0; d < size.size(); ++d) {
    Dims shape(size.size() - d, 1);
    shape[0] = size[d];
    e.bind_int("n", size[d]);
    e.bind_int("step", stride[d]);
    e.bind_ints("shape", shape);
    e.run("places = add(places, view(iota(n, 0, step), shape)); places");
  }
  return false;
}

// "i" and "dim" of an unfolding. Returns the dim.
size_t unfolding(Expansion& e, const Dims& shape, int64_t dim) {
  const auto rank = static_cast<int>(shape.size());
  const auto at = ops::wrap_dim(dim, rank);
  const int64_t size = e.get_int("size", 0), step = e.get_int("step", 0);
  if (!at || size < 1 || step < 1 || size > shape[*at] || rank >= kMaxRank) {
    e.refuse("the dim cannot be unfolded so");
    return 0;
  }
  e.bind_int("n", (shape[*at] - size) / step + 1);
  e.bind_int("dim", static_cast<int64_t>(*at));
  e.run("i = add(view(iota(n, 0, step), [n, 1]), iota(size)); i");
  return *at;
}

enum class Edge : uint8_t { kReflects, kRepeats };

// "x" padded along the last dims; or, for a gradient, with its padding added to the elements that
// it came from.
void pad(Expansion& e, Edge edge, bool backward) {
  const Dims pads = e.get_ints("padding");
  const TensorType type = e.type("self");
  if (pads.size() % 2 != 0 || pads.size() / 2 > type.shape.size())
    return e.refuse_void("padding has more numbers than the tensor has dims");
  for (size_t k = 0; k < pads.size() / 2; ++k) {
    const size_t d = type.shape.size() - 1 - k;
    const int64_t n = type.shape[d];
    e.bind_int("d", static_cast<int64_t>(d));
    e.bind_int("n", n + pads[2 * k] + pads[2 * k + 1]);
    e.bind_int("first", -pads[2 * k]);
    e.bind_int("last", n - 1);
    e.run(edge == Edge::kReflects ? "i = sub(last, abs(sub(last, abs(iota(n, first))))); i"
                                  : "i = clamp(iota(n, first), 0, last); i");
    if (!backward) {
      e.run("x = index_select(x, d, i); x");
      continue;
    }
    Dims shape = e.type("x").shape;
    shape[d] = n;
    e.bind_ints("shape", shape);
    e.run("x = index_put(full(shape, 0, dtype=dtype(x)), x, [i], dims=d, accumulate=true); x");
  }
}

std::string_view padded(Expansion& e, Edge edge, bool backward) {
  e.bind("x", e.at(backward ? "grad_output" : "self"));
  pad(e, edge, backward);
  return "alias(x)";
}

}  // namespace

std::string_view as_strided(Expansion& e) {
  flatten(e, "self");
  const bool is_view = find_places(e);
  return is_view ? "view(flat, size)" : "view(index(flat, [places]), size)";
}

std::string_view as_strided_scatter(Expansion& e) {
  flatten(e, "self");
  const bool is_view = find_places(e);
  e.run(is_view ? "y = view(src, [-1]); y"
                : "y = index_put(flat, view(src, sizes(places)), [places]); y");
  // Restores the order of the dims.
  const TensorType type = e.recorded("self");
  const Dims order = e.get_ints("order");
  Dims shape(order.size(), 0), back(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    shape[i] = type.shape[static_cast<size_t>(order[i])];
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  e.bind_ints("shape", shape);
  e.bind_ints("back", back);
  return "permute(view(y, shape), back)";
}

std::string_view diagonal(Expansion& e) {
  const TensorType type = e.type("self");
  auto a = ops::wrap_dim(e.get_int("dim1", 0), type.rank());
  auto b = ops::wrap_dim(e.get_int("dim2", 1), type.rank());
  const Dims shape = e.result_shape();
  if (!a || !b || *a == *b || shape.empty()) return e.refuse("there is no diagonal");
  int64_t offset = e.get_int("offset", 0);
  if (*a > *b) std::swap(a, b), offset = -offset;
  e.bind_int("n", shape.back());
  e.bind_int("down", std::max<int64_t>(0, -offset));
  e.bind_int("right", std::max<int64_t>(0, offset));
  e.bind_ints("pair", Dims{static_cast<int64_t>(*a), static_cast<int64_t>(*b)});
  // The diagonal must be the last dim; `index` puts it in the place of the first indexed dim, or in
  // front.
  const int64_t at = *b == *a + 1 ? static_cast<int64_t>(*a) : 0;
  Dims order;
  for (int64_t d = 0; d + 1 < type.rank(); ++d)
    if (d != at) order.push_back(d);
  order.push_back(at);
  e.bind_ints("order", order);
  return "permute(index(self, [iota(n, down), iota(n, right)], dims=pair), order)";
}

std::string_view roll(Expansion& e) {
  const Dims shifts = e.get_ints("shifts"), dims = e.get_ints("dims");
  e.run(dims.empty() ? "x = view(self, [-1]); x" : "x = self; x");
  for (size_t k = 0; k < shifts.size(); ++k) {
    e.bind_int("d", dims.empty() ? 0 : k < dims.size() ? dims[k] : 0);
    e.bind_int("first", -shifts[k]);
    e.run("n = size(x, d); x = index_select(x, d, remainder(iota(n, first), n)); x");
  }
  return "view(x, sizes(self))";
}

std::string_view unfold(Expansion& e) {
  const Dims shape = e.type("self").shape;
  const size_t at = unfolding(e, shape, e.get_int("dimension", 0));
  if (!e.ok()) return {};
  // The elements of a window must be the last dim; `index` puts them after their dim.
  Dims order;
  for (size_t d = 0; d <= shape.size(); ++d)
    if (d != at + 1) order.push_back(static_cast<int64_t>(d));
  order.push_back(static_cast<int64_t>(at) + 1);
  e.bind_ints("order", order);
  return "permute(index(self, [i], dims=dim), order)";
}

std::string_view unfold_backward(Expansion& e) {
  const Dims shape = e.get_ints("input_sizes");
  const size_t at = unfolding(e, shape, e.get_int("dim", 0));
  if (!e.ok()) return {};
  Dims order;
  for (size_t d = 0; d < shape.size(); ++d) {
    order.push_back(static_cast<int64_t>(d));
    if (d == at) order.push_back(static_cast<int64_t>(shape.size()));
  }
  e.bind_ints("order", order);
  return "index_put(full(input_sizes, 0, dtype=dtype(grad_in)), permute(grad_in, order), [i], "
         "dims=dim, accumulate=true)";
}

std::string_view reflection_pad(Expansion& e) { return padded(e, Edge::kReflects, false); }
std::string_view reflection_pad_backward(Expansion& e) { return padded(e, Edge::kReflects, true); }
std::string_view replication_pad(Expansion& e) { return padded(e, Edge::kRepeats, false); }
std::string_view replication_pad_backward(Expansion& e) { return padded(e, Edge::kRepeats, true); }

}  // namespace shw::import::decompose
