// Computations on shapes: models compute with small integers, which are folded at import. The
// results keep the symbols.
#include <algorithm>
#include <optional>
#include <vector>

#include "import/onnx/arithmetic.h"
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

using Inputs = std::vector<Sizes>;
using Folded = std::optional<Sizes>;

Sizes list(Exprs items, Dtype dtype) {
  const auto length = static_cast<int64_t>(items.size());
  return {Dims{length}, dtype, std::move(items)};
}

// Elementwise, for tensors of the same shape, or one tensor and a single element.
Folded each(const Sizes& a, const Sizes& b, std::optional<Expr> (*f)(const Expr&, const Expr&)) {
  if (a.shape != b.shape && a.items.size() != 1 && b.items.size() != 1) return std::nullopt;
  const bool like_a =
      a.shape.size() > b.shape.size() || (a.shape.size() == b.shape.size() && a.items.size() != 1);
  Sizes out = like_a ? a : b;
  if ((like_a ? b : a).items.size() != 1 && a.shape != b.shape) return std::nullopt;
  for (size_t i = 0; i < out.items.size(); ++i) {
    auto item = f(a.items[a.items.size() == 1 ? 0 : i], b.items[b.items.size() == 1 ? 0 : i]);
    if (!item) return std::nullopt;
    out.items[i] = *std::move(item);
  }
  return out;
}

template <std::optional<Expr> (*kFunction)(const Expr&, const Expr&)>
Folded two(Node&, const Inputs& in) {
  return in.size() == 2 ? each(in[0], in[1], kFunction) : std::nullopt;
}

Folded negative(Node&, const Inputs& in) {
  return each(Sizes{{}, in[0].dtype, {Expr{}}}, in[0],
              [](const Expr& a, const Expr& b) { return sum(a, b, -1); });
}

std::optional<Expr> plus(const Expr& a, const Expr& b) { return sum(a, b); }
std::optional<Expr> minus(const Expr& a, const Expr& b) { return sum(a, b, -1); }
std::optional<Expr> times(const Expr& a, const Expr& b) { return product(a, b); }
// A symbol may have any of its values at run time, so only equal expressions, and numbers, can be
// compared with certainty.
std::optional<Expr> equal(const Expr& a, const Expr& b) {
  if (a == b) return Expr{1, {}};
  if (a.is_number() && b.is_number()) return Expr{};
  // A size is never negative; −1 in a shape has another meaning.
  const auto is_size = [](const Expr& e) {
    return !e.is_number() && e.constant >= 0 &&
           std::ranges::all_of(e.terms, [](const auto& t) { return t.second > 0; });
  };
  if ((is_size(a) && b.is_number() && b.constant < 0) ||
      (is_size(b) && a.is_number() && a.constant < 0))
    return Expr{};
  return std::nullopt;
}

Folded equals(Node& n, const Inputs& in) {
  Folded out = two<equal>(n, in);
  if (out) out->dtype = Dtype::kBool;
  return out;
}

Folded where(Node&, const Inputs& in) {
  if (in.size() != 3 || in[0].shape != in[1].shape || in[0].shape != in[2].shape)
    return std::nullopt;
  Sizes out = in[1];
  for (size_t i = 0; i < out.items.size(); ++i) {
    if (!in[0].items[i].is_number()) return std::nullopt;
    if (in[0].items[i].constant == 0) out.items[i] = in[2].items[i];
  }
  return out;
}

Folded concat(Node& n, const Inputs& in) {
  n.skip("axis");
  Sizes out = list({}, in[0].dtype);
  for (const Sizes& part : in) {
    if (part.shape.size() != 1) return std::nullopt;
    out.items.insert(out.items.end(), part.items.begin(), part.items.end());
  }
  return list(std::move(out.items), out.dtype);
}

Folded gather(Node& n, const Inputs& in) {
  if (in.size() != 2 || in[0].shape.size() != 1 || n.attr("axis", int64_t{0}) != 0)
    return std::nullopt;
  Sizes out{in[1].shape, in[0].dtype, {}};
  const auto size = static_cast<int64_t>(in[0].items.size());
  for (const Expr& index : in[1].items) {
    const int64_t at = index.constant < 0 ? index.constant + size : index.constant;
    if (!index.is_number() || at < 0 || at >= size) return std::nullopt;
    out.items.push_back(in[0].items[static_cast<size_t>(at)]);
  }
  return out;
}

std::optional<int64_t> number(const Sizes& s) {
  if (s.items.size() != 1 || !s.items[0].is_number()) return std::nullopt;
  return s.items[0].constant;
}

// Only for a list, and a positive step.
Folded slice(Node&, const Inputs& in) {
  if (in.size() < 3 || in[0].shape.size() != 1) return std::nullopt;
  const auto start = number(in[1]), end = number(in[2]);
  const auto step = in.size() > 4 ? number(in[4]) : std::optional<int64_t>(1);
  if (!start || !end || !step || *step < 1) return std::nullopt;
  const auto size = static_cast<int64_t>(in[0].items.size());
  const auto bound = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  Exprs items;
  for (int64_t i = bound(*start); i < bound(*end); i += std::min(*step, size))
    items.push_back(in[0].items[static_cast<size_t>(i)]);
  return list(std::move(items), in[0].dtype);
}

// Converts a scalar to a list of one element, and back.
Folded unsqueeze(Node& n, const Inputs& in) {
  n.skip("axes");
  if (!in[0].shape.empty() || (in.size() > 1 && in[1].items.size() != 1)) return std::nullopt;
  return list(in[0].items, in[0].dtype);
}
Folded squeeze(Node& n, const Inputs& in) {
  n.skip("axes");
  if (in[0].shape != Dims{1}) return std::nullopt;
  return Sizes{{}, in[0].dtype, in[0].items};
}

// Reshapes to a list, or to a scalar.
Folded reshape(Node& n, const Inputs& in) {
  n.skip("allowzero");
  if (in.size() != 2 || in[1].items.size() > 1) return std::nullopt;
  const auto count = static_cast<int64_t>(in[0].items.size());
  if (in[1].items.empty())
    return count == 1 ? Folded(Sizes{{}, in[0].dtype, in[0].items}) : std::nullopt;
  const auto size = number(in[1]);
  if (!size || (*size != -1 && *size != count) || count == 0) return std::nullopt;
  return list(in[0].items, in[0].dtype);
}

Folded cast(Node& n, const Inputs& in) {
  n.skip("saturate");
  const Result<Dtype> to = dtype_of(n.attr("to", int64_t{0}));
  const bool is_integer = to.ok() && (*to == Dtype::kI64 || *to == Dtype::kI32);
  if (!is_integer) return std::nullopt;
  Sizes out = in[0];
  out.dtype = *to;
  return out;
}

Folded product_of_all(Node& n, const Inputs& in) {
  const bool keep = n.attr("keepdims", int64_t{1}) != 0;
  n.skip("axes");
  n.skip("noop_with_empty_axes");
  if (in[0].shape.size() != 1) return std::nullopt;
  const auto all = product(std::span<const Expr>(in[0].items));
  if (!all) return std::nullopt;
  if (keep) return list({*all}, in[0].dtype);
  return Sizes{{}, in[0].dtype, {*all}};
}

// A list of one number. PyTorch's exporter creates it to mark dims that are kept.
Folded constant_of_shape(Node& n, const Inputs& in) {
  constexpr int64_t kMost = 8;
  const auto length = number(in[0]);
  const TensorProto* t = n.attr_tensor("value");
  if (in[0].shape.size() != 1 || !length || *length < 0 || *length > kMost || t == nullptr)
    return std::nullopt;
  const Result<Known> value = known_of(*t);
  if (!value.ok() || is_floating(value->type.dtype) || is_complex(value->type.dtype) ||
      value->type.numel() != 1)
    return std::nullopt;
  const Expr item{integer_at(*value, 0), {}};
  return list(Exprs(static_cast<size_t>(*length), item), value->type.dtype);
}

struct Row {
  std::string_view name;
  Folded (*fold)(Node&, const Inputs&);
};
constexpr Row kRows[] = {
    {"Add", two<plus>},       {"Cast", cast},
    {"Concat", concat},       {"ConstantOfShape", constant_of_shape},
    {"Div", two<quotient>},   {"Equal", equals},
    {"Gather", gather},       {"Mul", two<times>},
    {"Neg", negative},        {"ReduceProd", product_of_all},
    {"Reshape", reshape},     {"Slice", slice},
    {"Squeeze", squeeze},     {"Sub", two<minus>},
    {"Unsqueeze", unsqueeze}, {"Where", where},
};

}  // namespace

bool fold(Node& n) {
  const auto* row = std::ranges::find(kRows, n.proto().op_type(), &Row::name);
  if (row == std::end(kRows) || n.num_inputs() == 0) return false;
  Inputs inputs;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    const Value* v = n.value(i);
    auto known = v == nullptr ? std::nullopt : sizes_of(*v);
    if (!known) return false;
    inputs.push_back(*std::move(known));
  }
  Folded folded = row->fold(n, inputs);
  if (!folded) return false;
  n.out(value_of_sizes({}, *std::move(folded)));
  return true;
}

}  // namespace shw::import::onnx
