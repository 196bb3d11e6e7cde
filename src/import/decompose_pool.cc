// Pooling: `index` gives the window of each result its own dims, which a maximum or a sum reduces.
// Backward, the gradients are added to the elements that the windows came from.
#include <algorithm>
#include <limits>

#include "import/decompose.h"

namespace shw::import::decompose {
namespace {

// Maximum size of a dim: products of three do not overflow.
constexpr int64_t kMost = int64_t{1} << 20;

struct Windows {
  size_t lead = 0, dims = 0;  // number of dims before the spatial ones; number of spatial dims
  Dims kernel, stride, padding, dilation;
  Dims input, output;  // sizes of the spatial dims
};

// One number per spatial dim. A list of one number applies to all dims, and an empty list means
// `otherwise`.
Dims numbers(Expansion& e, std::string_view name, size_t dims, const Dims& otherwise,
             int64_t least) {
  Dims list = e.get_ints(name);
  if (list.empty()) list = otherwise;
  if (list.size() == 1) list = Dims(dims, list[0]);
  bool fits = list.size() == dims;
  for (int64_t n : list) fits = fits && n >= least && n < kMost;
  if (!fits) e.refuse("the window does not have one number for each dim");
  return fits ? list : Dims(dims, 1);
}

// `input`: sizes of the pooled tensor; `output`: sizes of the result.
Windows windows_of(Expansion& e, const Dims& input, const Dims& output) {
  Windows w;
  w.dims = e.get_ints("kernel_size").size();
  if (w.dims == 1 && input.size() > 3) w.dims = input.size() - 2;
  if (w.dims == 0 || w.dims > 3 || input.size() <= w.dims || output.size() != input.size() ||
      input.size() + w.dims > kMaxRank) {
    e.refuse("kernel_size does not fit the tensor that is pooled");
    return Windows();
  }
  w.lead = input.size() - w.dims;
  w.kernel = numbers(e, "kernel_size", w.dims, {}, 1);
  w.stride = numbers(e, "stride", w.dims, w.kernel, 1);
  w.padding = numbers(e, "padding", w.dims, Dims{0}, 0);
  w.dilation = numbers(e, "dilation", w.dims, Dims{1}, 1);
  for (size_t d = w.lead; d < input.size(); ++d) {
    if (input[d] > kMost || output[d] > kMost) {
      e.refuse("a pooled dim is too large");
      return Windows();
    }
    w.input.push_back(input[d]);
    w.output.push_back(output[d]);
  }
  return w;
}

Dims join(const Dims& lead, size_t count, std::initializer_list<const Dims*> parts) {
  Dims all(lead.span().first(count));
  for (const Dims* part : parts)
    for (int64_t n : *part) all.push_back(n);
  return all;
}

int64_t product(const Dims& list) {
  int64_t p = 1;
  for (int64_t n : list) p *= n;
  return p;
}

// How far windows extend beyond the last element of a dim.
int64_t behind(const Windows& w, size_t d) {
  return std::max<int64_t>(0, (w.output[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] +
                                  1 - w.input[d] - w.padding[d]);
}

// "places": for each spatial dim, the positions of the windows' elements in the padded tensor;
// "spatial": the dims.
void find_places(Expansion& e, const Windows& w) {
  std::vector<NodeId> places;
  Dims spatial;
  for (size_t d = 0; d < w.dims; ++d) {
    Dims of_window(2 * w.dims, 1), in_window(2 * w.dims, 1);
    of_window[d] = w.output[d];
    in_window[w.dims + d] = w.kernel[d];
    e.bind_int("n", w.output[d]);
    e.bind_int("s", w.stride[d]);
    e.bind_int("k", w.kernel[d]);
    e.bind_int("d", w.dilation[d]);
    e.bind_ints("a", of_window);
    e.bind_ints("b", in_window);
    e.run("add(view(iota(n, 0, s), a), view(iota(k, 0, d), b))");
    places.push_back(e.node("it"));
    spatial.push_back(static_cast<int64_t>(w.lead + d));
  }
  e.bind("places", std::move(places));
  e.bind_ints("spatial", spatial);
}

// "p": the windows of "self", padded with `value`: [lead…, output…, kernel…].
void lay_out(Expansion& e, const Windows& w, double value) {
  find_places(e, w);
  Dims pad;
  for (size_t d = w.dims; d-- > 0;) {
    pad.push_back(w.padding[d]);
    pad.push_back(behind(w, d));
  }
  const bool is_padded = pad != Dims(pad.size(), 0);
  e.bind_ints("pad", pad);
  e.bind_number("outside", value);
  e.run(is_padded ? "x = constant_pad_nd(self, pad, outside); x" : "x = self; x");
  e.run("p = index(x, places, dims=spatial); p");
}

// "best": the maxima and their positions in the windows.
void find_maxima(Expansion& e, const Windows& w) {
  if (!is_floating(e.type("self").dtype)) e.refuse("max pooling of integers is not supported");
  lay_out(e, w, -std::numeric_limits<double>::infinity());
  const Dims window{product(w.kernel)};
  e.bind_ints("shape", join(e.type("self").shape, w.lead, {&w.output, &window}));
  e.run("best = max(view(p, shape), -1); best");
}

// "index": positions in the flattened spatial dims, from the positions "r" in the windows.
void find_indices(Expansion& e, const Windows& w) {
  e.bind_int("index", 0);
  int64_t inner = 1;
  for (size_t d = w.dims; d-- > 0; inner *= w.input[d]) {
    Dims shape(w.dims - d, 1);
    shape[0] = w.output[d];
    e.bind_int("n", w.output[d]);
    e.bind_int("l", -w.padding[d]);
    e.bind_int("s", w.stride[d]);
    e.bind_int("k", w.kernel[d]);
    e.bind_int("d", w.dilation[d]);
    e.bind_int("f", inner);
    e.bind_ints("a", shape);
    e.run(
        "q = add(mul(remainder(r, k), d), view(iota(n, l, s), a)); "
        "index = add(index, mul(q, f)); r = floor_divide(r, k); r");
  }
}

// "count": the divisors of the windows' sums.
void find_counts(Expansion& e, const Windows& w) {
  const bool with_padding = e.get_bool("count_include_pad", true);
  bool is_uniform = true;
  for (size_t d = 0; d < w.dims; ++d)
    is_uniform = is_uniform && behind(w, d) <= (with_padding ? w.padding[d] : 0) &&
                 (with_padding || w.padding[d] == 0);
  if (e.has("divisor_override") || is_uniform) {
    e.bind_number("count",
                  e.get_number("divisor_override", static_cast<double>(product(w.kernel))));
    return;
  }
  e.bind_number("count", 1);
  for (size_t d = 0; d < w.dims; ++d) {
    Dims shape(w.dims - d, 1);
    shape[0] = w.output[d];
    e.bind_int("n", w.output[d]);
    e.bind_int("l", -w.padding[d]);
    e.bind_int("s", w.stride[d]);
    e.bind_int("k", w.kernel[d]);
    e.bind_int("least", with_padding ? -w.padding[d] : 0);
    e.bind_int("most", w.input[d] + (with_padding ? w.padding[d] : 0));
    e.bind_ints("a", shape);
    e.run(
        "i = iota(n, l, s); c = sub(clamp(add(i, k), max=most), clamp(i, least)); "
        "count = mul(convert_element_type(view(c, a), f32), count); count");
  }
}

}  // namespace

std::string_view max_pool_offsets(Expansion& e) {
  const Windows w = windows_of(e, e.type("self").shape, e.result_shape());
  find_maxima(e, w);
  return "(best.0, best.1)";
}

std::string_view max_pool(Expansion& e) {
  const Windows w = windows_of(e, e.type("self").shape, e.result_shape());
  find_maxima(e, w);
  e.run("r = best.1; r");
  find_indices(e, w);
  return "(best.0, index)";
}

std::string_view max_pool_indices(Expansion& e) {
  const Dims spatial = e.get_ints("input_size");
  const Dims output = e.result_shape();
  if (spatial.size() > output.size()) return e.refuse("input_size has too many dims");
  Dims input = output;
  for (size_t d = 0; d < spatial.size(); ++d)
    input[output.size() - spatial.size() + d] = spatial[d];
  const Windows w = windows_of(e, input, output);
  e.run("r = convert_element_type(offsets, i64); r");
  find_indices(e, w);
  return "alias(index)";
}

std::string_view max_pool_backward(Expansion& e) {
  const Windows w = windows_of(e, e.type("self").shape, e.type("grad_output").shape);
  const Dims all{product(w.input)}, some{product(w.output)};
  e.bind_ints("all", join(e.type("self").shape, w.lead, {&all}));
  e.bind_ints("some", join(e.type("self").shape, w.lead, {&some}));
  return "view(scatter_add(full(all, 0, dtype=dtype(grad_output)), -1, view(indices, some), "
         "view(grad_output, some)), sizes(self))";
}

std::string_view avg_pool(Expansion& e) {
  const Windows w = windows_of(e, e.type("self").shape, e.result_shape());
  lay_out(e, w, 0);
  find_counts(e, w);
  Dims inner;
  for (size_t d = 0; d < w.dims; ++d) inner.push_back(static_cast<int64_t>(w.lead + w.dims + d));
  e.bind_ints("inner", inner);
  return "div(sum(p, inner), count)";
}

std::string_view avg_pool_backward(Expansion& e) {
  const Windows w = windows_of(e, e.type("self").shape, e.type("grad_output").shape);
  find_places(e, w);
  find_counts(e, w);
  const Dims ones(w.dims, 1);
  Dims padded = w.input;
  for (size_t d = 0; d < w.dims; ++d) padded[d] += w.padding[d] + behind(w, d);
  const Dims shape = e.type("self").shape;
  e.bind_ints("thin", join(shape, w.lead, {&w.output, &ones}));
  e.bind_ints("wide", join(shape, w.lead, {&w.output, &w.kernel}));
  e.bind_ints("padded", join(shape, w.lead, {&padded}));
  e.run(
      "g = expand(view(div(grad_output, count), thin), wide); "
      "x = index_put(full(padded, 0, dtype=dtype(g)), g, places, dims=spatial, "
      "accumulate=true); x");
  for (size_t d = 0; d < w.dims; ++d) {
    if (padded[d] == w.input[d]) continue;
    e.bind_int("d", static_cast<int64_t>(w.lead + d));
    e.bind_int("l", w.padding[d]);
    e.bind_int("r", w.padding[d] + w.input[d]);
    e.run("x = slice(x, d, l, r); x");
  }
  return "alias(x)";
}

namespace {

// "split": the shape of the larger tensor, with each pooled dim split into blocks and their size;
// "inner": the dims of the block sizes; "count": the number of elements per mean.
void split_evenly(Expansion& e, const Dims& large, const Dims& small) {
  Dims split, blocks, inner;
  double count = 1;
  if (large.size() != small.size()) return e.refuse_void("the ranks of what is pooled differ");
  for (size_t d = 0; d < large.size(); ++d) {
    if (split.size() + 2 > kMaxRank)
      return e.refuse_void("adaptive pooling of so many dims is not supported");
    split.push_back(small[d]);
    blocks.push_back(small[d]);
    if (small[d] == large[d]) continue;
    if (small[d] == 0 || large[d] % small[d] != 0)
      return e.refuse_void("adaptive pooling into sizes that do not divide is not supported");
    inner.push_back(static_cast<int64_t>(split.size()));
    const int64_t window = large[d] / small[d];
    split.push_back(window);
    blocks.push_back(1);
    count *= static_cast<double>(window);
  }
  e.bind_ints("split", split);
  e.bind_ints("blocks", blocks);
  e.bind_number("count", count);
  e.bind_ints("inner", inner);
}

}  // namespace

std::string_view even_pool(Expansion& e) {
  split_evenly(e, e.type("self").shape, e.result_shape());
  return e.get_ints("inner").empty() ? "alias(self)" : "mean(view(self, split), inner)";
}

std::string_view even_pool_backward(Expansion& e) {
  split_evenly(e, e.type("self").shape, e.type("grad_output").shape);
  return "view(expand(view(div(grad_output, count), blocks), split), sizes(self))";
}

}  // namespace shw::import::decompose
