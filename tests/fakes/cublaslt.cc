// A fake libcublasLt. It computes matrix products with plain loops when the stream reaches them. It
// refuses what cuBLASLt refuses, and what cuBLASLt would read out of bounds. So it checks sizes,
// leading dims, alignment, workspace and the requirements of 8-bit floats.
#include <algorithm>
#include <complex>
#include <cstring>

#include "fakes/driver.h"
#include "fakes/element.h"
#include "fakes/inject.h"
#include "runtime/cuda/plugin/cublaslt.h"

using namespace shw::fakes;
using namespace shw::runtime::cuda;
using shw::Status;

struct cublasLtContext : Counted {};

namespace {

constexpr CublasError kInvalidValue = 7, kNotSupported = 15;
constexpr size_t kWorkspace = 256;

struct Layout {
  CublasType type;
  int64_t rows, columns, step;
  int32_t batch = 1;
  int64_t batch_step = 0;
};
struct Operation {
  CublasCompute compute;
  CublasType scale;
  int32_t transpose_a = 0, transpose_b = 0;
  const void *scale_a = nullptr, *scale_b = nullptr;
};
struct Preference {
  size_t workspace = 0;
  uint32_t alignment = 256;
};

shw::Dtype dtype_of(CublasType type) {
  switch (type) {
    case kCudaF32:
      return shw::Dtype::kF32;
    case kCudaF64:
      return shw::Dtype::kF64;
    case kCudaF16:
      return shw::Dtype::kF16;
    case kCudaBF16:
      return shw::Dtype::kBF16;
    case kCudaF8E4M3:
      return shw::Dtype::kF8E4M3;
    case kCudaF8E5M2:
      return shw::Dtype::kF8E5M2;
    case kCudaC32:
      break;
  }
  return shw::Dtype::kC64;
}

bool is_float8(CublasType type) { return type == kCudaF8E4M3 || type == kCudaF8E5M2; }

// cuBLASLt's requirements of 8-bit floats: in both operands the summed dim is contiguous, in rows
// of a multiple of 16 bytes; E5M2 can be multiplied only with E4M3; the result has a wider dtype.
bool is_float8_product(const Operation& o, const Layout& a, const Layout& b, const Layout& c) {
  const bool types = is_float8(a.type) && is_float8(b.type) &&
                     (a.type == kCudaF8E4M3 || b.type == kCudaF8E4M3) &&
                     (c.type == kCudaF32 || c.type == kCudaF16 || c.type == kCudaBF16);
  const bool lies = o.transpose_a == 1 && o.transpose_b == 0;
  const auto is_multiple = [](int64_t n) { return n % 16 == 0; };
  return types && lies && is_multiple(a.rows) && is_multiple(a.columns) && is_multiple(b.rows) &&
         is_multiple(a.step) && is_multiple(b.step) && is_multiple(c.step) &&
         o.compute == kCompute32F && o.scale == kCudaF32;
}

struct Problem {
  Operation operation;
  Layout a, b, c;

  int64_t m() const { return operation.transpose_a ? a.columns : a.rows; }
  int64_t k() const { return operation.transpose_a ? a.rows : a.columns; }
  int64_t n() const { return operation.transpose_b ? b.rows : b.columns; }
  bool fits() const {
    const int64_t k_of_b = operation.transpose_b ? b.columns : b.rows;
    const bool steps = a.step >= a.rows && b.step >= b.rows && c.step >= c.rows;
    return steps && k() == k_of_b && c.rows == m() && c.columns == n() && a.batch == c.batch &&
           b.batch == c.batch && (operation.compute == kCompute64F) == (c.type == kCudaF64) &&
           fits_float8();
  }
  bool fits_float8() const {
    if (is_float8(a.type) || is_float8(b.type) || is_float8(c.type))
      return is_float8_product(operation, a, b, c);
    return operation.scale_a == nullptr && operation.scale_b == nullptr;
  }
  void run(const void* pa, const void* pb, void* pc, double factor) const {
    for (int64_t batch = 0; batch < c.batch; ++batch)
      for (int64_t j = 0; j < n(); ++j)
        for (int64_t i = 0; i < m(); ++i) {
          std::complex<double> sum = 0;
          for (int64_t l = 0; l < k(); ++l) {
            const int64_t at_a = operation.transpose_a ? i * a.step + l : l * a.step + i;
            const int64_t at_b = operation.transpose_b ? l * b.step + j : j * b.step + l;
            sum += element(pa, batch * a.batch_step + at_a, dtype_of(a.type)) *
                   element(pb, batch * b.batch_step + at_b, dtype_of(b.type));
          }
          set_element(pc, batch * c.batch_step + j * c.step + i, dtype_of(c.type), sum * factor);
        }
  }
};

}  // namespace

SHW_FAKE_API size_t cublasLtGetVersion() {
  const int other = injected("cublasLtGetVersion");
  return other != 0 ? static_cast<size_t>(other) : 130100;
}
#define FAKE SHW_FAKE_API CublasError
FAKE cublasLtCreate(CublasLtHandle* handle) {
  *handle = new cublasLtContext;
  return injected("cublasLtCreate");
}
FAKE cublasLtDestroy(CublasLtHandle handle) {
  delete handle;
  return 0;
}
FAKE cublasLtMatmulDescCreate(MatmulDescriptor* made, CublasCompute compute, CublasType scale) {
  *made = new Operation{compute, scale};
  return 0;
}
FAKE cublasLtMatmulDescDestroy(MatmulDescriptor made) {
  delete static_cast<Operation*>(made);
  return 0;
}
FAKE cublasLtMatmulDescSetAttribute(MatmulDescriptor made, MatmulAttribute which, const void* value,
                                    size_t size) {
  auto& operation = *static_cast<Operation*>(made);
  if (which == kScaleOfA || which == kScaleOfB) {
    if (size != sizeof(void*)) return kInvalidValue;
    std::memcpy(which == kScaleOfA ? &operation.scale_a : &operation.scale_b, value, size);
    return 0;
  }
  if (size != sizeof(int32_t)) return kInvalidValue;
  std::memcpy(which == kTransposeA ? &operation.transpose_a : &operation.transpose_b, value, size);
  return 0;
}
FAKE cublasLtMatrixLayoutCreate(MatrixLayout* made, CublasType type, uint64_t rows,
                                uint64_t columns, int64_t step) {
  *made = new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), step};
  return 0;
}
FAKE cublasLtMatrixLayoutDestroy(MatrixLayout made) {
  delete static_cast<Layout*>(made);
  return 0;
}
FAKE cublasLtMatrixLayoutSetAttribute(MatrixLayout made, LayoutAttribute which, const void* value,
                                      size_t size) {
  auto& layout = *static_cast<Layout*>(made);
  const bool is_count = which == kBatchCount;
  if (size != (is_count ? sizeof layout.batch : sizeof layout.batch_step)) return kInvalidValue;
  std::memcpy(is_count ? static_cast<void*>(&layout.batch) : &layout.batch_step, value, size);
  return 0;
}
FAKE cublasLtMatmulPreferenceCreate(MatmulPreference* made) {
  *made = new Preference;
  return 0;
}
FAKE cublasLtMatmulPreferenceDestroy(MatmulPreference made) {
  delete static_cast<Preference*>(made);
  return 0;
}
FAKE cublasLtMatmulPreferenceSetAttribute(MatmulPreference made, PreferenceAttribute which,
                                          const void* value, size_t size) {
  auto& preference = *static_cast<Preference*>(made);
  const bool is_workspace = which == kMaxWorkspace;
  if (size != (is_workspace ? sizeof preference.workspace : sizeof preference.alignment))
    return kInvalidValue;
  std::memcpy(is_workspace ? static_cast<void*>(&preference.workspace) : &preference.alignment,
              value, size);
  return 0;
}
FAKE cublasLtMatmulAlgoGetHeuristic(CublasLtHandle, MatmulDescriptor operation, MatrixLayout a,
                                    MatrixLayout b, MatrixLayout c, MatrixLayout,
                                    MatmulPreference made, int, MatmulHeuristic* found,
                                    int* count) {
  if (const int code = injected("cublasLtMatmulAlgoGetHeuristic"); code != 0) return code;
  const Problem problem{*static_cast<Operation*>(operation), *static_cast<Layout*>(a),
                        *static_cast<Layout*>(b), *static_cast<Layout*>(c)};
  const auto& preference = *static_cast<Preference*>(made);
  *count = 0;
  if (!problem.fits()) return kInvalidValue;
  if (preference.workspace < kWorkspace || (is_float8(problem.a.type) && preference.alignment < 16))
    return kNotSupported;
  *found = {};
  found->algorithm.data[0] = preference.alignment;
  found->workspace_bytes = kWorkspace;
  *count = 1;
  return 0;
}
FAKE cublasLtMatmul(CublasLtHandle, MatmulDescriptor operation, const void* alpha, const void* pa,
                    MatrixLayout a, const void* pb, MatrixLayout b, const void* beta,
                    const void* also_c, MatrixLayout, void* pc, MatrixLayout c,
                    const MatmulAlgorithm* algorithm, void* workspace, size_t workspace_bytes,
                    StreamHandle stream) {
  if (const int code = injected("cublasLtMatmul"); code != 0) return code;
  const Problem problem{*static_cast<Operation*>(operation), *static_cast<Layout*>(a),
                        *static_cast<Layout*>(b), *static_cast<Layout*>(c)};
  const bool is_f64 = problem.operation.scale == kCudaF64;
  const auto scale = [&](const void* p) {
    return is_f64 ? *static_cast<const double*>(p)
                  : static_cast<double>(*static_cast<const float*>(p));
  };
  if (!problem.fits() || pc != also_c || scale(alpha) != 1 || scale(beta) != 0 ||
      workspace_bytes < kWorkspace || reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    return kInvalidValue;
  for (const void* p : {pa, pb, static_cast<const void*>(pc)})
    if (reinterpret_cast<uintptr_t>(p) % algorithm->data[0] != 0) return kInvalidValue;
  stream->queue->push({[=, device = stream->device](const auto&) {
    const auto& memory = device->context.memory;
    const auto run = [&]() -> Status {
      SHW_ASSIGN_OR_RETURN(const void* x, memory.for_kernels(pa));
      SHW_ASSIGN_OR_RETURN(const void* y, memory.for_kernels(pb));
      SHW_ASSIGN_OR_RETURN(void* z, memory.for_kernels(pc));
      SHW_ASSIGN_OR_RETURN(void* scratch, memory.for_kernels(workspace));
      std::memset(scratch, 0xa5, kWorkspace);
      double factor = 1;
      for (const void* place : {problem.operation.scale_a, problem.operation.scale_b}) {
        if (place == nullptr) continue;
        SHW_ASSIGN_OR_RETURN(const void* number, memory.for_kernels(place));
        factor *= static_cast<double>(*static_cast<const float*>(number));
      }
      problem.run(x, y, z, factor);
      return {};
    };
    if (Status s = run(); !s.ok()) device->context.lose(std::move(s));
  }});
  return 0;
}
