// Matrix products.
#include <algorithm>

#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

// The batch dims of an operand of MatMul, before its matrix.
size_t batch_rank(Node& n, NodeId x) { return static_cast<size_t>(n.rank(x) - 2); }

NodeId unsqueezed(Node& n, NodeId x, int64_t dim) {
  return n.add(OpKind::kUnsqueeze, {x}, {{AttrKey::kDim, dim}});
}
NodeId without(Node& n, NodeId x, int64_t dim) {
  return n.add(OpKind::kSqueeze, {x}, {{AttrKey::kDim, dim}});
}

// The operand with its batch dims expanded to `batch`.
NodeId expanded(Node& n, NodeId x, const Exprs& batch) {
  Exprs size = batch;
  const Exprs own = n.emit().sizes(x);
  size.insert(size.end(), own.end() - 2, own.end());
  return size == own ? x : n.add(OpKind::kExpand, {x}, {{AttrKey::kSize, std::move(size)}});
}

// The common batch dims of two operands; a size of 1 is broadcast.
Exprs common_batch(Node& n, NodeId a, NodeId b) {
  const Exprs as = n.emit().sizes(a), bs = n.emit().sizes(b);
  const size_t ra = batch_rank(n, a), rb = batch_rank(n, b), rank = std::max(ra, rb);
  Exprs batch;
  for (size_t i = 0; i < rank; ++i) {
    const Expr one{1, {}};
    const Expr& x = i + ra >= rank ? as[i + ra - rank] : one;
    const Expr& y = i + rb >= rank ? bs[i + rb - rank] : one;
    if (x != y && x != one && y != one)
      n.fail(invalid_argument("the dims in front of the matrices differ: " + to_string(n.type(a)) +
                              " and " + to_string(n.type(b))));
    batch.push_back(x == one ? y : x);
  }
  return batch;
}

// Operands of two or more dims.
NodeId batched(Node& n, NodeId a, NodeId b) {
  if (!n.ok()) return kNoNode;
  if (n.rank(a) == 2 && n.rank(b) == 2) return n.add(OpKind::kMm, {a, b});
  // With a weight matrix, one product of the rows of all batches, which may be sharded along any
  // dim.
  const std::string letters = "abcdefgh";
  if (n.rank(b) == 2) {
    const std::string front = letters.substr(0, static_cast<size_t>(n.rank(a) - 1));
    return n.add(OpKind::kEinsum, {a, b}, {{AttrKey::kEquation, front + "k,kn->" + front + "n"}});
  }
  const Exprs batch = common_batch(n, a, b);
  if (!n.ok()) return kNoNode;
  a = expanded(n, a, batch);
  b = expanded(n, b, batch);
  if (batch.size() == 1) return n.add(OpKind::kBmm, {a, b});
  const std::string front = letters.substr(0, batch.size());
  return n.add(OpKind::kEinsum, {a, b},
               {{AttrKey::kEquation, front + "mk," + front + "kn->" + front + "mn"}});
}

void matmul(Node& n) {
  NodeId a = n.in(0), b = n.in(1);
  if (!n.ok()) return;
  if (n.rank(a) == 0 || n.rank(b) == 0) return n.fail(invalid_argument("MatMul of a scalar"));
  const bool row = n.rank(a) == 1, column = n.rank(b) == 1;
  if (row) a = unsqueezed(n, a, 0);
  if (column) b = unsqueezed(n, b, 1);
  NodeId y = batched(n, a, b);
  if (column && n.ok()) y = without(n, y, n.rank(y) - 1);
  if (row && n.ok()) y = without(n, y, column ? n.rank(y) - 1 : n.rank(y) - 2);
  n.out(y);
}

NodeId maybe_transposed(Node& n, NodeId x, bool transposed) {
  return transposed ? n.add(OpKind::kT, {x}) : x;
}

NodeId scaled(Node& n, NodeId x, double factor) {
  if (!n.ok() || factor == 1) return x;
  const bool is_float = is_floating(n.type(x).dtype);
  n.refuse_if(!is_float, "factors alpha and beta of integers");
  return n.binary(OpKind::kMul, x, factor);
}

void gemm(Node& n) {
  const double alpha = n.attr("alpha", 1.0), beta = n.attr("beta", 1.0);
  const NodeId a = maybe_transposed(n, n.in(0), n.attr("transA", int64_t{0}) != 0);
  const NodeId b = maybe_transposed(n, n.in(1), n.attr("transB", int64_t{0}) != 0);
  NodeId y = scaled(n, n.add(OpKind::kMm, {a, b}), alpha);
  if (n.has(2) && beta != 0) y = n.binary(OpKind::kAdd, y, scaled(n, n.in(2), beta));
  n.out(y);
}

// The default result: the letters that occur once, sorted.
std::string with_result(std::string equation) {
  std::string once;
  for (char c : equation)
    if (c != ',' && std::ranges::count(equation, c) == 1) once += c;
  std::ranges::sort(once);
  return equation + "->" + once;
}

// Whether no letter occurs twice in an operand.
bool is_plain(std::string_view equation) {
  std::string seen;
  for (char c : equation.substr(0, equation.find("->"))) {
    if (c == ',') seen.clear();
    if (c == '.' || seen.find(c) != std::string::npos) return false;
    if (c != ',') seen += c;
  }
  return true;
}

void einsum(Node& n) {
  n.require("equation");
  std::string equation = n.attr("equation", "");
  std::erase(equation, ' ');
  if (!n.ok()) return;
  if (equation.find("->") == std::string::npos) equation = with_result(std::move(equation));
  if (n.num_inputs() != 2 || !is_plain(equation))
    return n.fail(unimplemented("einsum '" + equation +
                                "': only equations of two operands without repeated letters and "
                                "ellipses are supported"));
  n.out(n.add(OpKind::kEinsum, {n.in(0), n.in(1)}, {{AttrKey::kEquation, equation}}));
}

constexpr Mapper kProductMappers[] = {
    {"Einsum", einsum, 12},
    {"Gemm", gemm, 7},
    {"MatMul", matmul, 1},
};

}  // namespace

std::span<const Mapper> product_mappers() { return kProductMappers; }

}  // namespace shw::import::onnx
