// An operand is used in place if its letters of each class form one strided dim and its rows or
// columns have no gaps. Otherwise it is first packed into the workspace. A plain kernel computes
// products that cuBLASLt does not support.
#include "runtime/cuda/plugin/contraction.h"

#include <algorithm>
#include <optional>

#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/matmul.h"
#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/equation.h"

namespace shw::runtime::cuda {
namespace {

// How the product accesses an operand.
struct Access {
  MatrixPlace place;
  std::optional<Pointwise> pack;  // to (operands) or from (result) the workspace
  int64_t workspace_offset = 0;
};

class Product final : public CudaKernel {
 public:
  static Prepared create(const Context& context, Equation e, const KernelArgs& args);
  int64_t workspace_bytes() const override { return packed_bytes_ + matmul_->workspace_bytes(); }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    auto* workspace = static_cast<std::byte*>(buffers[output_ + 1]);
    const auto place = [&](const Access& access, void* buffer) -> void* {
      return access.pack ? workspace + access.workspace_offset : buffer;
    };
    void *a = place(a_, buffers[left_]), *b = place(b_, buffers[right_]),
         *c = place(c_, buffers[output_]);
    if (a_.pack) SHW_RETURN_IF_ERROR(a_.pack->run(stream, a, buffers[left_], nullptr));
    if (b_.pack) SHW_RETURN_IF_ERROR(b_.pack->run(stream, b, buffers[right_], nullptr));
    SHW_RETURN_IF_ERROR(matmul_->run(stream, a, b, c, workspace + packed_bytes_));
    if (c_.pack) return c_.pack->run(stream, buffers[output_], c, nullptr);
    return {};
  }

 private:
  void place_operand(Access& access, const Equation& e, Operand which, const Letters& rows,
                     const Letters& columns, Dtype dtype);

  Operand left_ = kLeft, right_ = kRight;  // the left operand of the product
  size_t output_ = 2;
  Access a_, b_, c_;
  int64_t packed_bytes_ = 0;
  std::unique_ptr<Matmul> matmul_;
};

void Product::place_operand(Access& access, const Equation& e, Operand which, const Letters& rows,
                            const Letters& columns, Dtype dtype) {
  const int64_t num_rows = extent(rows), num_columns = extent(columns);
  MatrixPlace& p = access.place;
  p = {joint_stride(rows, which), joint_stride(columns, which), joint_stride(e.batch, which),
       dtype};
  if (num_columns == 1) p.column_stride = 1;
  if (num_rows == 1) p.row_stride = p.column_stride == 1 ? num_columns : 1;
  const bool by_rows = p.column_stride == 1 && p.row_stride >= num_columns;
  const bool by_columns = p.row_stride == 1 && p.column_stride >= num_rows;
  if (p.batch_stride >= 0 && (by_rows || (by_columns && which != kResult))) return;
  p = {num_columns, 1, num_rows * num_columns, dtype};
  access.workspace_offset = packed_bytes_;
  const TensorType lies = letters_type({&e.batch, &rows, &columns}, which, dtype);
  const TensorType dense = row_major(dtype, lies.shape);
  access.pack = which == kResult ? make_copy(lies, dense) : make_copy(dense, lies);
  packed_bytes_ += workspace_aligned(dense.bytes());
}

Prepared Product::create(const Context& context, Equation e, const KernelArgs& args) {
  auto product = std::make_unique<Product>();
  Product& p = *product;
  p.output_ = args.inputs.size();
  // The product writes dense rows. If the result's contiguous dim is among its rows, the transposed
  // product is computed.
  const auto gapless = [](const Letters& letters) {
    return std::any_of(letters.begin(), letters.end(),
                       [](const Letter& l) { return l.size != 1 && l.stride[kResult] == 1; });
  };
  if (gapless(e.rows) && !gapless(e.columns)) {
    std::swap(e.rows, e.columns);
    std::swap(p.left_, p.right_);
  }
  sort_by(e.batch, kResult);
  sort_by(e.rows, kResult);
  sort_by(e.columns, kResult);
  sort_by(e.depth, p.left_);
  const Dtype dtype[3] = {args.inputs[0]->dtype, args.inputs[1]->dtype, args.outputs[0]->dtype};
  p.place_operand(p.a_, e, p.left_, e.rows, e.depth, dtype[p.left_]);
  p.place_operand(p.b_, e, p.right_, e.depth, e.columns, dtype[p.right_]);
  p.place_operand(p.c_, e, kResult, e.rows, e.columns, dtype[kResult]);
  const MatmulShape shape{extent(e.batch), extent(e.rows), extent(e.columns), extent(e.depth),
                          p.a_.place,      p.b_.place,     p.c_.place};
  SHW_ASSIGN_OR_RETURN(p.matmul_, Matmul::create(context, shape));
  return std::unique_ptr<PreparedKernel>(std::move(product));
}

// Computes the product element by element, where cuBLASLt does not support it.
class PlainProduct final : public CudaKernel {
 public:
  PlainProduct(const Equation& e, const KernelArgs& args) : output_(args.inputs.size()) {
    const Dtype dtype[3] = {args.inputs[0]->dtype, args.inputs[1]->dtype, args.outputs[0]->dtype};
    for (int o = 0; o < 3; ++o) arguments_.dtype[o] = static_cast<int>(dtype[o]);
    Letters kept = e.batch;
    kept.insert(kept.end(), e.rows.begin(), e.rows.end());
    kept.insert(kept.end(), e.columns.begin(), e.columns.end());
    arguments_.kept = loops(kept, dtype, arguments_.kept_stride, 3);
    arguments_.depth = loops(e.depth, dtype, arguments_.depth_stride, 2);
    const Dtype result = dtype[kResult];
    kernel_ = is_complex(result)      ? DeviceKernel::shw_contract_c64
              : result == Dtype::kF64 ? DeviceKernel::shw_contract_f64
              : is_floating(result)   ? DeviceKernel::shw_contract_f32
                                      : DeviceKernel::shw_contract_i64;
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const void *left = buffers[0], *right = buffers[1];
    return launch_elements(stream, kernel_, arguments_.kept.total, buffers[output_], left, right,
                           arguments_);
  }

 private:
  static DeviceLoops loops(const Letters& letters, const Dtype* dtype, i64 (*stride)[kMaxLoops],
                           size_t operands) {
    DeviceLoops made{0, 1, {}};
    for (const Letter& l : letters) {
      if (l.size == 1) continue;
      for (size_t o = 0; o < operands; ++o)
        stride[o][made.rank] = l.stride[o] * dtype_size(dtype[o]);
      made.size[made.rank++] = l.size;
      made.total *= l.size;
    }
    return made;
  }

  ContractArguments arguments_{};
  DeviceKernel kernel_;
  const size_t output_;
};

}  // namespace

Prepared prepare_contraction(const Context& context, const KernelArgs& args,
                             std::string_view equation) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &a = *args.inputs[0], &b = *args.inputs[1], &c = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(Equation e, parse_equation(equation, a, b, c));
  if (num_wide(e) > static_cast<size_t>(kMaxRank))
    return unimplemented("einsum '" + std::string(equation) + "' has more than " +
                         std::to_string(kMaxRank) + " letters");
  const int64_t batch = extent(e.batch), m = extent(e.rows), n = extent(e.columns),
                k = extent(e.depth);
  SHW_RETURN_IF_ERROR(check_size({batch, m, k}));
  SHW_RETURN_IF_ERROR(check_size({batch, k, n}));
  SHW_RETURN_IF_ERROR(check_size({batch, m, n}));
  const bool is_empty = batch == 0 || m == 0 || n == 0 || k == 0;
  if (is_empty || batch > INT32_MAX || !can_multiply(a.dtype, b.dtype, c.dtype))
    return make_kernel<PlainProduct>(e, args);
  return Product::create(context, std::move(e), args);
}

Prepared prepare_mm(const Context& context, const KernelArgs& args) {
  return prepare_contraction(context, args, "mk,kn->mn");
}
Prepared prepare_bmm(const Context& context, const KernelArgs& args) {
  return prepare_contraction(context, args, "bmk,bkn->bmn");
}
Prepared prepare_einsum(const Context& context, const KernelArgs& args) {
  return prepare_contraction(context, args, args.attrs.get_string(AttrKey::kEquation));
}

}  // namespace shw::runtime::cuda
