// The list of the CPU backend's kernels. To add one: a file in kernels/, and its line here.
#include "runtime/cpu/device.h"

// X(identifier): the constant k<identifier> of kernels/<name>.cc
#define SHW_CPU_KERNELS(X)  \
  X(Mm)                     \
  X(Einsum)                 \
  X(Add)                    \
  X(Sub)                    \
  X(Mul)                    \
  X(Div)                    \
  X(Neg)                    \
  X(Exp)                    \
  X(Sigmoid)                \
  X(Relu)                   \
  X(ThresholdBackward)      \
  X(Rsqrt)                  \
  X(Pow)                    \
  X(Conj)                   \
  X(ConvertElementType)     \
  X(DtypeCast)              \
  X(Clone)                  \
  X(LocalSlice)             \
  X(Sum)                    \
  X(Mean)                   \
  X(Embedding)              \
  X(EmbeddingDenseBackward) \
  X(Sdpa)                   \
  X(SdpaBackward)           \
  X(Tanh)                   \
  X(Eq)                     \
  X(Ne)                     \
  X(Lt)                     \
  X(Le)                     \
  X(Gt)                     \
  X(Ge)                     \
  X(BitwiseAnd)             \
  X(Where)                  \
  X(Cumsum)                 \
  X(Cat)                    \
  X(Index)                  \
  X(Full)                   \
  X(Rand)                   \
  X(Iota)                   \
  X(ScalarTensor)           \
  X(LayerNorm)              \
  X(LayerNormBackward) \
  X(FillPadding) \
  X(Extend)

namespace shw::runtime::cpu {

#define X(id) extern const Kernel k##id;
SHW_CPU_KERNELS(X)
#undef X

namespace {
#define X(id) &k##id,
const Kernel* const kTable[] = {SHW_CPU_KERNELS(X)};
#undef X
}  // namespace

std::span<const Kernel* const> kernel_table() { return kTable; }

}  // namespace shw::runtime::cpu
