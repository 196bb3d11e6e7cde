// The ONNX operators that are supported, by domain, name and opset, and their mappers.
#pragma once
#include <span>
#include <string_view>

#include "import/onnx/node.h"

namespace shw::import::onnx {

inline constexpr int64_t kNewestOpset = 21;  // of the default domain

struct Mapper {
  std::string_view name;
  void (*map)(Node&);
  // The mapper applies to the opsets from `since` to `until`.
  int64_t since = 1, until = kNewestOpset;
  std::string_view domain = {};
};

// Null: unknown in this opset. `domain`: "" for the default one.
const Mapper* find_mapper(std::string_view domain, std::string_view name, int64_t opset);
// The opsets of the default domain in which the operator is known: "13 to 21"; empty: none.
std::string known_opsets(std::string_view name);

// Maps an operator of one tensor. It is refused if this library's operation would convert integers
// to floats: ONNX keeps the type.
template <OpKind kOp>
void map_unary(Node& n) {
  const NodeId x = n.in(), y = n.add(kOp, {x});
  n.refuse_if(n.type(y).dtype != n.type(x).dtype, "integer inputs are not supported");
  n.out(y);
}

// Maps an operator of two tensors that are broadcast against each other.
template <OpKind kOp>
void map_binary(Node& n) {
  n.out(n.binary(kOp, n.operand(0, 1), n.operand(1, 0)));
}

// One file per group.
std::span<const Mapper> activation_mappers();
std::span<const Mapper> arithmetic_mappers();
std::span<const Mapper> convolution_mappers();
std::span<const Mapper> lookup_mappers();
std::span<const Mapper> loss_mappers();
std::span<const Mapper> making_mappers();
std::span<const Mapper> movement_mappers();
std::span<const Mapper> norm_mappers();
std::span<const Mapper> pool_mappers();
std::span<const Mapper> product_mappers();
std::span<const Mapper> quantize_mappers();
std::span<const Mapper> reduction_mappers();
std::span<const Mapper> shape_mappers();
std::span<const Mapper> trigonometry_mappers();
std::span<const Mapper> truth_mappers();

// Computes the node's results at import if its inputs are known integers. False: they are not
// known, or models do not use the operator to compute shapes.
bool fold(Node& node);

}  // namespace shw::import::onnx
