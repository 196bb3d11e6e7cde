// The table of the CPU backend's kernels. To add a kernel, add a file to kernels/ and a line here.
#include "runtime/cpu/kernel_args.h"

// X(identifier): the constant k<identifier> of kernels/<name>.cc
#define SHW_CPU_KERNELS(X)  \
  X(Mm)                     \
  X(VectorMm)               \
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
  X(ConjPairs)              \
  X(MulPairs)               \
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
  X(LayerNormBackward)      \
  X(FillPadding)            \
  X(Extend)                 \
  X(Abs)                    \
  X(Sqrt)                   \
  X(Log)                    \
  X(Log1p)                  \
  X(Expm1)                  \
  X(Erf)                    \
  X(Reciprocal)             \
  X(Cos)                    \
  X(Sin)                    \
  X(Floor)                  \
  X(Ceil)                   \
  X(Round)                  \
  X(Sign)                   \
  X(Gelu)                   \
  X(GeluBackward)           \
  X(Silu)                   \
  X(SiluBackward)           \
  X(SigmoidBackward)        \
  X(TanhBackward)           \
  X(LogicalNot)             \
  X(LogicalAnd)             \
  X(LogicalOr)              \
  X(BitwiseNot)             \
  X(BitwiseOr)              \
  X(Maximum)                \
  X(Minimum)                \
  X(Remainder)              \
  X(FloorDivide)            \
  X(Clamp)                  \
  X(MaskedFill)             \
  X(ToCopy)                 \
  X(Amax)                   \
  X(Amin)                   \
  X(Prod)                   \
  X(Any)                    \
  X(All)                    \
  X(Var)                    \
  X(Argmax)                 \
  X(Argmin)                 \
  X(Max)                    \
  X(Min)                    \
  X(Softmax)                \
  X(SoftmaxBackward)        \
  X(LogSoftmax)             \
  X(LogSoftmaxBackward)     \
  X(Cumprod)                \
  X(Sort)                   \
  X(Topk)                   \
  X(Gather)                 \
  X(Scatter)                \
  X(ScatterAdd)             \
  X(IndexSelect)            \
  X(PowTensor)              \
  X(Atan2)                  \
  X(ScatterReduce)          \
  X(IndexPut)               \
  X(SelectBackward)         \
  X(SelectScatter)          \
  X(SliceBackward)          \
  X(SliceScatter)           \
  X(Pad)                    \
  X(Stack)                  \
  X(Flip)                   \
  X(Repeat)                 \
  X(Tril)                   \
  X(Triu)                   \
  X(FullLike)               \
  X(NewFull)                \
  X(RandLike)               \
  X(Randn)                  \
  X(RandnLike)              \
  X(Dropout)                \
  X(DropoutBackward)        \
  X(RmsNorm)                \
  X(RmsNormBackward)        \
  X(NllLoss)                \
  X(NllLossBackward)        \
  X(Bmm)                    \
  X(Addmm)                  \
  X(Baddbmm)                \
  X(ScaledMm)               \
  X(GroupedMm)              \
  X(SdpaPaged)              \
  X(Convolution)            \
  X(ConvolutionBackward)

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
