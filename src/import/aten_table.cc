#include "import/aten_table.h"

#include <algorithm>
#include <iterator>

namespace shw::import {
namespace {

// Sorted by target. Signatures: aten/src/ATen/native/native_functions.yaml of PyTorch. The
// attention kernels differ in the order of arguments and in what they return beside output and
// log-sum-exp (sequence lengths, debug masks); of those we keep the two halves of the generator's
// state.
constexpr AtenOp kTable[] = {
    {"<built-in function getitem>", OpKind::kGetItem},
    {"aten._conj.default", OpKind::kConj},
    {"aten._scaled_dot_product_cudnn_attention.default", OpKind::kSdpa,
     "query key value bias compute_lse dropout_p is_causal _ scale", "0 1 6 7", "cudnn"},
    {"aten._scaled_dot_product_cudnn_attention_backward.default", OpKind::kSdpaBackward,
     "grad_output query key value out logsumexp seed offset bias _ _ _ _ dropout_p is_causal scale",
     "0 1 2 -", "cudnn"},
    {"aten._scaled_dot_product_efficient_attention.default", OpKind::kSdpa,
     "query key value bias compute_lse dropout_p is_causal scale", "", "efficient"},
    {"aten._scaled_dot_product_efficient_attention_backward.default", OpKind::kSdpaBackward,
     "grad_output query key value bias out logsumexp seed offset dropout_p output_mask is_causal "
     "scale",
     "", "efficient"},
    {"aten._scaled_dot_product_flash_attention.default", OpKind::kSdpa,
     "query key value dropout_p is_causal _ scale", "0 1 6 7", "flash"},
    {"aten._scaled_dot_product_flash_attention_backward.default", OpKind::kSdpaBackward,
     "grad_output query key value out logsumexp _ _ _ _ dropout_p is_causal seed offset scale",
     "0 1 2 -", "flash"},
    {"aten._unsafe_view.default", OpKind::kView},
    {"aten.add.Scalar", OpKind::kAdd},
    {"aten.add.Tensor", OpKind::kAdd},
    {"aten.alias.default", OpKind::kAlias},
    {"aten.bitwise_and.Scalar", OpKind::kBitwiseAnd},
    {"aten.bitwise_and.Tensor", OpKind::kBitwiseAnd},
    {"aten.cat.default", OpKind::kCat},
    {"aten.clone.default", OpKind::kClone},
    {"aten.cumsum.default", OpKind::kCumsum},
    {"aten.div.Scalar", OpKind::kDiv},
    {"aten.div.Tensor", OpKind::kDiv},
    {"aten.einsum.default", OpKind::kEinsum},
    {"aten.embedding.default", OpKind::kEmbedding},
    {"aten.embedding_dense_backward.default", OpKind::kEmbeddingDenseBackward},
    {"aten.eq.Scalar", OpKind::kEq},
    {"aten.eq.Tensor", OpKind::kEq},
    {"aten.exp.default", OpKind::kExp},
    {"aten.expand.default", OpKind::kExpand},
    {"aten.full.default", OpKind::kFull},
    {"aten.ge.Scalar", OpKind::kGe},
    {"aten.ge.Tensor", OpKind::kGe},
    {"aten.gt.Scalar", OpKind::kGt},
    {"aten.gt.Tensor", OpKind::kGt},
    {"aten.index.Tensor", OpKind::kIndex, "self indices"},
    {"aten.le.Scalar", OpKind::kLe},
    {"aten.le.Tensor", OpKind::kLe},
    {"aten.lt.Scalar", OpKind::kLt},
    {"aten.lt.Tensor", OpKind::kLt},
    {"aten.mean.default", OpKind::kMean, "self dtype"},
    {"aten.mean.dim", OpKind::kMean},
    {"aten.mm.default", OpKind::kMm},
    {"aten.mul.Scalar", OpKind::kMul},
    {"aten.mul.Tensor", OpKind::kMul},
    {"aten.native_layer_norm.default", OpKind::kLayerNorm},
    {"aten.native_layer_norm_backward.default", OpKind::kLayerNormBackward},
    {"aten.ne.Scalar", OpKind::kNe},
    {"aten.ne.Tensor", OpKind::kNe},
    {"aten.neg.default", OpKind::kNeg},
    {"aten.permute.default", OpKind::kPermute},
    {"aten.pow.Tensor_Scalar", OpKind::kPow},
    {"aten.rand.default", OpKind::kRand, "size"},
    {"aten.relu.default", OpKind::kRelu},
    {"aten.rsqrt.default", OpKind::kRsqrt},
    {"aten.scalar_tensor.default", OpKind::kScalarTensor},
    {"aten.sigmoid.default", OpKind::kSigmoid},
    {"aten.slice.Tensor", OpKind::kSlice},
    {"aten.split.Tensor", OpKind::kSplit},
    {"aten.split_with_sizes.default", OpKind::kSplitWithSizes},
    {"aten.squeeze.dim", OpKind::kSqueeze},
    {"aten.sub.Scalar", OpKind::kSub},
    {"aten.sub.Tensor", OpKind::kSub},
    {"aten.sum.default", OpKind::kSum, "self dtype"},
    {"aten.sum.dim_IntList", OpKind::kSum},
    {"aten.tanh.default", OpKind::kTanh},
    {"aten.threshold_backward.default", OpKind::kThresholdBackward},
    {"aten.unsqueeze.default", OpKind::kUnsqueeze},
    {"aten.view.default", OpKind::kView},
    {"aten.view_as_complex.default", OpKind::kViewAsComplex},
    {"aten.view_as_real.default", OpKind::kViewAsReal},
    {"aten.where.self", OpKind::kWhere},
    {"autoparallel.dtype_cast.default", OpKind::kDtypeCast},
    {"prims.convert_element_type.default", OpKind::kConvertElementType},
    {"prims.iota.default", OpKind::kIota, "length"},
};

constexpr bool before(const AtenOp& a, const AtenOp& b) { return a.target < b.target; }
static_assert(std::is_sorted(std::begin(kTable), std::end(kTable), before));

}  // namespace

const AtenOp* find_aten_op(std::string_view target) {
  const auto* it =
      std::lower_bound(std::begin(kTable), std::end(kTable), AtenOp{target, {}}, before);
  return it != std::end(kTable) && it->target == target ? it : nullptr;
}

}  // namespace shw::import
