// What kernels are launched with, for host and device: plain structs, passed by value. Strides are
// in bytes unless their names say elements. NVRTC has no standard headers, so nothing is included.
#pragma once

namespace shw::runtime::cuda {

using i64 = long long;

// The numbers of tensor/dtype.h.
enum DeviceDtype : int {
  kDeviceF32 = 1,
  kDeviceF64 = 2,
  kDeviceF16 = 3,
  kDeviceBF16 = 4,
  kDeviceI8 = 5,
  kDeviceI16 = 6,
  kDeviceI32 = 7,
  kDeviceI64 = 8,
  kDeviceU8 = 9,
  kDeviceBool = 10,
  kDeviceC64 = 11,
  kDeviceF8E4M3 = 12,
  kDeviceF8E5M2 = 13,
};

// The step that a launch is of.
struct DeviceStep {
  i64 node;
  int kernel;  // its number in the backend's table
};

// The first index out of range that a kernel was given, in memory that host and device share.
struct DeviceError {
  unsigned found;  // not 0: the other fields are, or are about to be, valid
  unsigned ready;  // not 0: they are
  i64 node, value, bound;
  int kernel;
};

// Threads of a block whose threads work together; the launch says how many there are.
constexpr int kMostBlockThreads = 256;

constexpr int kVectorBytes = 16;  // the most that one instruction moves

constexpr int kMaxLoops = 9;  // the most dims of a tensor, and one more

// Nested loops, the last one the innermost.
struct DeviceLoops {
  int rank;
  i64 total;  // how often the innermost body runs
  i64 size[kMaxLoops];
};

// X(identifier): what the pointwise kernels compute; kernels/pointwise.cuh says how.
#define SHW_CUDA_POINTWISE(X) \
  X(Copy)                     \
  X(Add)                      \
  X(Sub)                      \
  X(Mul)                      \
  X(Div)                      \
  X(Neg)                      \
  X(Exp)                      \
  X(Sigmoid)                  \
  X(Relu)                     \
  X(ThresholdBackward)        \
  X(Rsqrt)                    \
  X(Sqrt)                     \
  X(Square)                   \
  X(Cube)                     \
  X(Reciprocal)               \
  X(Power)                    \
  X(IntegerPower)             \
  X(Conj)                     \
  X(Silu)                     \
  X(SiluBackward)             \
  X(SigmoidBackward)          \
  X(TanhBackward)             \
  X(Tanh)                     \
  X(Log)                      \
  X(Abs)                      \
  X(Cos)                      \
  X(Sin)                      \
  X(Maximum)                  \
  X(Minimum)                  \
  X(Erf)                      \
  X(Log1p)                    \
  X(Expm1)                    \
  X(Floor)                    \
  X(Ceil)                     \
  X(Round)                    \
  X(Sign)                     \
  X(Gelu)                     \
  X(GeluTanh)                 \
  X(GeluBackward)             \
  X(GeluTanhBackward)         \
  X(LogicalNot)               \
  X(LogicalAnd)               \
  X(LogicalOr)                \
  X(BitwiseNot)               \
  X(BitwiseAnd)               \
  X(BitwiseOr)                \
  X(Equal)                    \
  X(NotEqual)                 \
  X(Less)                     \
  X(LessEqual)                \
  X(Greater)                  \
  X(GreaterEqual)             \
  X(Remainder)                \
  X(FloorDivide)              \
  X(PowerTensor)              \
  X(Atan2)                    \
  X(Clamp)                    \
  X(DropoutBackward)          \
  X(Where)                    \
  X(MulThree)

enum class PointwiseOp : int {
#define X(id) k##id,
  SHW_CUDA_POINTWISE(X)
#undef X
};

// op(up to three operands); `number` and `integer` are a parameter of the operation.
struct PointwiseFormula {
  PointwiseOp op;
  int fixed;  // which operand is a number instead of a tensor; -1: none
  double number;
  i64 integer;
  double fixed_number;
  i64 fixed_integer;
};
// result = formula, elementwise.
struct PointwiseArguments {
  DeviceLoops loops;
  i64 stride[4][kMaxLoops];  // of the result, then of the operands
  int dtype[4];
  PointwiseFormula formula;
};

// Elements that a thread of shw_pointwise_dense_* takes from each operand at a time.
constexpr int kDenseNarrow = 8, kDenseWide = 4;  // of 16 bits at most; where there are 32

// A copy of bits between two windows, so many bytes at a time.
struct MoveArguments {
  DeviceLoops loops;
  i64 stride[2][kMaxLoops];  // of the result, of the operand
  int unit;                  // 1, 2, 4, 8 or 16
};
// The same where neighbours in the result are apart in the operand: matrices, with elements of so
// many bytes, whose columns are side by side in the result and whose rows are in the operand.
struct TransposeArguments {
  DeviceLoops matrices;
  i64 stride[2][kMaxLoops];
  i64 rows, columns;
  i64 to_row, from_column;  // strides
  int unit;                 // 1, 2, 4 or 8
};
// Rows and columns of a tile: of elements of 1 or 2 bytes, and of wider ones.
constexpr int kTransposeNarrow = 64, kTransposeWide = 32;

enum class ReduceKind : int { kSum, kMean, kProduct, kMax, kMin, kAny, kAll };

struct ReduceFormula {
  ReduceKind kind;
  i64 count;  // elements of one result
};
struct ReduceArguments {
  DeviceLoops kept, reduced;
  i64 kept_in[kMaxLoops], kept_out[kMaxLoops], reduced_in[kMaxLoops];
  int in_dtype, out_dtype;
  ReduceFormula formula;
  double divisor;  // of a variance
  // Of shw_reduce_columns_*: slices of the elements of a result; results of a block, which divide
  // its threads.
  i64 slices;
  int columns;
};

// `count` elements of so many bytes from each of formula.count ranks, one rank after another.
struct GatheredArguments {
  i64 count, bytes;
  int dtype;
  ReduceFormula formula;
};

// Lines of up to three tensors along one dim: operands, then the result. Strides and steps.
struct LineArguments {
  DeviceLoops places;  // one line each
  i64 stride[3][kMaxLoops];
  i64 step[3];
  int dtype[3];
  i64 count;  // elements of a line
  int kind;   // 1: the logarithm of softmax; a product
};

// What is sorted: a key, and where it came from. A block sorts a tile in its shared memory.
struct SortEntry {
  unsigned long long key;
  i64 place;
};
constexpr int kSortTile = 1024;

struct ExtremeArguments {
  DeviceLoops kept, searched;
  i64 kept_stride[3][kMaxLoops];  // input, value, place
  i64 searched_stride[kMaxLoops];
  int dtype[3];
  int largest;
};

// One tensor of a normalisation: strides along its rows' places, and along a row.
struct NormWindow {
  i64 row[kMaxLoops], column[kMaxLoops];
  int dtype;
};
struct NormArguments {
  DeviceLoops rows, columns;
  NormWindow x, grad, mean, rstd, weight, bias;
  NormWindow out, out_bias;  // out: the result, or the gradient of x or of the weight
  double eps;
  int centred;  // layer norm; 0: RMS norm
  // Of gradients of weight and bias: slices of the rows; columns of a block, which divide its
  // threads.
  i64 slices;
  int block_columns;
};

// Strides of the scores without their dim of classes, of the targets, and of one tensor more.
struct LossArguments {
  DeviceLoops targets;
  i64 stride[3][kMaxLoops];
  i64 classes, class_step, weight_step, ignored;
  int score_dtype, target_dtype, weight_dtype, beside_dtype, total_dtype;
  int reduction;  // 0: none, 1: mean, 2: sum
  DeviceStep step;
};

// result[kept] = sum over depth of left · right.
struct ContractArguments {
  DeviceLoops kept, depth;
  i64 kept_stride[3][kMaxLoops];   // left, right, result
  i64 depth_stride[2][kMaxLoops];  // left, right
  int dtype[3];
};

// Rows of a table of which this rank has rows first … first + own - 1 of `whole`.
struct TableRows {
  i64 first, own, whole;
};

// Products tile by tile: threads of a block, and rows and columns of the tile that it works on.
constexpr int kProductThreads = 256, kProductTile = 64;

// What offsets cut; kBatches: nothing.
enum class GroupedKind : int { kRows, kColumns, kTerms, kBatches };

struct GroupedArguments {
  GroupedKind kind;
  i64 rows, columns, depth;  // of a product, or of all groups where they are cut
  i64 ragged;                // the size of what is cut
  TableRows groups;
  i64 left[3], right[3], out[3];  // strides of groups, rows, columns
  int dtype[3];
  i64 offset_step;
  int offset_dtype;
  i64 tiles, tiles_across;
  DeviceStep step;
};

// Strides of samples or a weight's outputs, of channels, and of three spatial dims.
struct ConvolutionWindow {
  i64 stride[5];
  int dtype;
};
struct ConvolutionArguments {
  i64 samples, groups, in_channels, out_channels;  // channels: of one group
  i64 in_places, out_places, kernel_places;
  i64 in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  ConvolutionWindow input, weight, result;
  i64 bias_step;
  int bias_dtype;
};

// start, start + step, …
struct IotaArguments {
  i64 count, stride;
  double start, step;
  i64 integer_start, integer_step;
  int dtype;
};

struct TriangleArguments {
  DeviceLoops loops;
  i64 stride[2][kMaxLoops];  // of the result, of the operand
  i64 shift;                 // of the diagonal
  int is_lower, dtype;
};

// What a step draws by, and the stride of the run's seed in elements.
struct DeviceSeed {
  i64 own, stride;
};
struct DrawArguments {
  DeviceLoops loops;
  i64 stride[4][kMaxLoops];  // of the numbers in the whole; of the results and the operand in bytes
  i64 first;                 // the number of the piece's first element
  DeviceSeed seed;
  int dtype, drawn;  // of the elements; that they are rounded to
  int normal;
  unsigned long long least;  // random bits of an element that a dropout keeps
  double scale;              // by which it multiplies those
};

// Pairs of numbers in a last dim of 2: strides of the pairs, and from the first number to the
// other, of the result and two operands.
struct PairArguments {
  DeviceLoops pairs;
  i64 stride[3][kMaxLoops];
  i64 next[3];
};

constexpr int kMaxIndices = 8;  // index tensors of a step: the most dims of a tensor

// How an element joins the one that is at its place.
enum class CombineKind : int { kReplace, kAdd, kMultiply, kMax, kMin };

// Elements of a table that index tensors together point at, beside those of another operand.
struct IndexArguments {
  // Where the index tensors differ, and the other dims. Together they are what is walked.
  DeviceLoops positions, lines;
  i64 position_other[kMaxLoops], position_index[kMaxIndices][kMaxLoops];
  i64 line_other[kMaxLoops], line_table[kMaxLoops], line_index[kMaxIndices][kMaxLoops];
  TableRows rows[kMaxIndices];
  i64 table_step[kMaxIndices];  // bytes from one of a dim's entries to the next
  int index_dtype[kMaxIndices];
  int num_indices, dtype;
  int wraps;        // negative indices count from the end
  int by_line;      // indices differ from line to line
  CombineKind how;  // of writes
  i64 fixed;        // the bits of what is written if there is no other operand
  DeviceStep step;
};
// The index tensors of a step, in device memory.
struct IndexPointers {
  const void* at[kMaxIndices];
};

struct EmbeddingArguments {
  DeviceLoops indices;  // one loop for each dim of the indices
  i64 index_stride[kMaxLoops];
  i64 out_stride[kMaxLoops];
  int index_dtype, dtype;
  TableRows rows;
  i64 width;
  i64 table_row, table_column, out_column;  // strides
  DeviceStep step;
};

struct EmbeddingBackwardArguments {
  DeviceLoops indices;
  i64 index_stride[kMaxLoops];
  i64 grad_stride[kMaxLoops];
  int index_dtype, grad_dtype, out_dtype;
  TableRows rows;
  i64 width, padding;  // the row that has no gradient; -1: none
  i64 grad_column, out_row, out_column;
  int by_frequency;
  DeviceStep step;
};

// One [batch, heads, rows, columns] operand.
struct HeadWindow {
  i64 stride[4];
  int dtype;
};

// Keys of a document.
struct KeySpan {
  i64 begin, end;
};
struct DocumentArguments {
  i64 batch, positions, count;  // count: of ends in a row, with the 0 before them
  i64 stride[2];
  int dtype;
  DeviceStep step;
};

// Dropout of the weights: the least 24 random bits of a pair that stays, the factor of its weight,
// and its place in the whole: that of the piece's first pair, and strides of batch, head and query.
struct AttentionDropoutArguments {
  unsigned long long least;
  double scale;
  i64 first, stride[3];
};

struct AttentionArguments {
  i64 batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  i64 left, right;  // query i sees keys i − left … i + right
  int has_bias;
  HeadWindow q, k, v, out, bias;
  i64 lse_batch, lse_head, lse_row, lse_length;  // strides in elements
  AttentionDropoutArguments dropout;             // valid if the launch has a seed
};

// Keys and values in pages: [pages, page_size, heads, width], as HeadWindows of a page; the pages
// of each row of the batch; and how many keys the row has.
struct PageArguments {
  i64 pages, page_size, row_pages;
  i64 table_stride[2], length_stride;
  int table_dtype, length_dtype;
  DeviceStep step;
};
struct PagedAttentionArguments {
  AttentionArguments attention;
  PageArguments pages;
};

// Attention on tensor cores: threads of a block, and the rows of the tile that a block works on.
constexpr int kFlashThreads = 128, kFlashForwardRows = 128;
// Of the kernels of 64 columns, and of 128, whose sums need more registers.
template <int kColumns>
constexpr int kFlashBackwardRows = kColumns <= 64 ? 128 : 64;

// Attention on tiles in f32: the same.
constexpr int kTiledThreads = 128, kTiledForwardRows = 32;
template <int kColumns>
constexpr int kTiledBackwardRows = kColumns <= 64 ? 32 : 16;

struct AttentionBackwardArguments {
  AttentionArguments forward;
  HeadWindow grad, dq, dk, dv, dbias;
  // On tensor cores: into how many parts the heads that share keys are divided, each of which gives
  // gradients of its own, in f32, to be added up.
  i64 parts;
};

}  // namespace shw::runtime::cuda
