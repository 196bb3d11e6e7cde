// biased_linear_to_einsum: handles the linear layers that view_mm_to_einsum leaves, namely those
// with a bias or a transposed weight, so that batch and sequence can be sharded independently there
// too. The reference planner has no such pass; it runs under `full` rules only.
//
//   %v = view(%x, size=[b·s, k])                           (x: [b, s, k], w: [k, n])
//   %m = mm(%v, %w)                            ⇒   %einsum = einsum(%x, %w, "abk,kn->abn")
//   %a = add(%bias, %m)                            %a = add(%bias, %einsum)
//   %y = view(%a, size=[b, s, n])
//   and the same with %a = addmm(%bias, %v, %w)
//
//   %p = permute(view(%x, size=[b·s, k]), dims=[1,0])      (the gradient of a weight)
//   %m = mm(%p, view(%g, size=[b·s, n]))       ⇒   %einsum = einsum(%x, %g, "abk,abn->kn")
//
//   %s = sum(view(%g, size=[b·s, n]), dims=[0])            (the gradient of a bias)
//                                              ⇒   %sum = sum(%g, dims=[0,1])
#include <algorithm>
#include <optional>

#include "rewrite/linear_patterns.h"
#include "rewrite/pass.h"
#include "rewrite/rebuild.h"

namespace shw {
namespace {

class Rewriter {
 public:
  explicit Rewriter(const Graph& g) : g_(g), uses_(g), users_(g), namer_(g), next_(g) {}

  Rewritten run() {
    for (uint32_t i = 0; i < g_.num_nodes(); ++i) {
      const NodeId n{i};
      if (next_.mapped(n).valid()) continue;  // the last node of a pattern
      if (forward(n) || weight_gradient(n) || bias_gradient(n))
        ++changes_;
      else
        next_.copy(n);
    }
    return {without_dead_code(next_.finish()), changes_};  // the products are dead now
  }

 private:
  NodeId add_einsum(NodeId origin, NodeId lhs, NodeId rhs, std::string equation,
                    const TensorType& type, NodeMeta meta) {
    Attrs attrs;
    attrs.set(AttrKey::kEquation, std::move(equation));
    return next_.add(origin, OpKind::kEinsum, namer_.fresh("einsum_default"),
                     {next_.mapped(lhs), next_.mapped(rhs)}, std::move(attrs), type,
                     std::move(meta));
  }

  // The only node that uses `n`, unless it is an output.
  NodeId only_user(NodeId n) const {
    return uses_[n] == 1 && !uses_.is_output(n) ? users_.users(n)[0] : kNoNode;
  }

  static bool is_one(const Attrs& attrs, AttrKey key) { return attrs.get_number(key, 1) == 1; }

  // A sum of a bias and a product, and which operand is which.
  struct Biased {
    NodeId bias, x, weight, product;
  };
  std::optional<Biased> biased(NodeId n) const {
    const auto operands = g_.operands(n);
    if (g_.op(n) == OpKind::kAddmm && is_one(g_.attrs(n), AttrKey::kAlpha) &&
        is_one(g_.attrs(n), AttrKey::kBeta))
      return Biased{operands[0], unflattened(g_, operands[1]), operands[2], n};
    if (g_.op(n) != OpKind::kAdd || !is_one(g_.attrs(n), AttrKey::kAlpha)) return std::nullopt;
    for (size_t k : {size_t{1}, size_t{0}}) {
      const NodeId mm = operands[k];
      if (mm.valid() && operands[1 - k].valid() && g_.op(mm) == OpKind::kMm && only_user(mm) == n)
        return Biased{operands[1 - k], unflattened(g_, g_.operands(mm)[0]), g_.operands(mm)[1], mm};
    }
    return std::nullopt;
  }

  bool forward(NodeId n) {
    const auto b = biased(n);
    const NodeId last = b ? only_user(n) : kNoNode;
    if (!last.valid() || g_.op(last) != OpKind::kView || !b->x.valid()) return false;
    const Dims &in = g_.type(b->x).shape, &out = g_.type(last).shape,
               &bias = g_.type(b->bias).shape;
    if (out.size() < 3 || out.back() != g_.type(b->weight).shape[1] ||
        !std::ranges::equal(batch_of(out), batch_of(in)))
      return false;
    if (bias.size() > 1 && (bias.size() > 2 || bias[0] != 1))
      return false;  // not one value per column
    const std::string batch = batch_letters(in.size() - 1);
    const NodeId product =
        add_einsum(b->product, b->x, b->weight, batch + "k,kn->" + batch + "n",
                   row_major(g_.type(b->product).dtype, out), joined_meta(g_, b->product, n));
    const NodeId sum = next_.add(
        n, OpKind::kAdd, g_.op(n) == OpKind::kAdd ? g_.name(n) : namer_.fresh("add_tensor"),
        {next_.mapped(b->bias), product}, {}, row_major(g_.type(last).dtype, out), g_.meta(n));
    next_.map(n, sum);
    next_.map(last, sum);
    return true;
  }

  bool weight_gradient(NodeId n) {
    if (g_.op(n) != OpKind::kMm || !is_transpose(g_, g_.operands(n)[0])) return false;
    const NodeId x = unflattened(g_, g_.operands(g_.operands(n)[0])[0]),
                 gradient = unflattened(g_, g_.operands(n)[1]);
    if (!x.valid() || !gradient.valid()) return false;
    const Dims &xs = g_.type(x).shape, &gs = g_.type(gradient).shape;
    if (!std::ranges::equal(batch_of(xs), batch_of(gs))) return false;
    const std::string batch = batch_letters(xs.size() - 1);
    next_.map(n,
              add_einsum(n, x, gradient, batch + "k," + batch + "n->kn", g_.type(n), g_.meta(n)));
    return true;
  }

  // With keepdim, a view restores the dim of size 1.
  bool bias_gradient(NodeId n) {
    if (g_.op(n) != OpKind::kSum) return false;
    const NodeId x = unflattened(g_, g_.operands(n)[0]);
    const std::vector<int64_t>& dims = g_.attrs(n).get_ints(AttrKey::kDims);
    if (!x.valid() || dims.size() != 1 || (dims[0] != 0 && dims[0] != -2)) return false;
    std::vector<int64_t> batch;
    for (size_t d = 0; d + 1 < g_.type(x).shape.size(); ++d)
      batch.push_back(static_cast<int64_t>(d));
    Attrs attrs = g_.attrs(n);
    attrs.set(AttrKey::kDims, std::move(batch));
    attrs.erase(AttrKey::kKeepDim);
    const TensorType& type = g_.type(n);
    const NodeId sum =
        next_.add(n, OpKind::kSum, namer_.fresh("sum_dim_intlist"), {next_.mapped(x)},
                  std::move(attrs), row_major(type.dtype, Dims{type.shape.back()}), g_.meta(n));
    if (type.rank() == 1) {
      next_.map(n, sum);
      return true;
    }
    Attrs size;
    size.set(AttrKey::kSize, std::vector<int64_t>(type.shape.begin(), type.shape.end()));
    next_.map(n, next_.add(n, OpKind::kView, namer_.fresh("view_default"), {sum}, std::move(size),
                           type, g_.meta(n)));
    return true;
  }

  const Graph& g_;
  UseCounts uses_;
  UserTable users_;
  Namer namer_;
  Rebuilder next_;
  int64_t changes_ = 0;
};

Result<Rewritten> run_biased_linear_to_einsum(const Graph& g) { return Rewriter(g).run(); }

}  // namespace

extern const GraphPass kBiasedLinearToEinsum;
constinit const GraphPass kBiasedLinearToEinsum = {
    "biased_linear_to_einsum",
    "linear layers with a bias, and their gradients, become einsums on unflattened tensors",
    run_biased_linear_to_einsum};

}  // namespace shw
