#include "fakes/element.h"

#include "runtime/half.h"
#include "tensor/float8.h"

namespace shw::fakes {

std::complex<double> element(const void* base, int64_t i, Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return static_cast<double>(static_cast<const float*>(base)[i]);
    case Dtype::kF64:
      return static_cast<const double*>(base)[i];
    case Dtype::kF16:
      return static_cast<double>(runtime::f16_to_f32(static_cast<const uint16_t*>(base)[i]));
    case Dtype::kBF16:
      return static_cast<double>(runtime::bf16_to_f32(static_cast<const uint16_t*>(base)[i]));
    case Dtype::kF8E4M3:
      return static_cast<double>(f8e4m3_to_f32(static_cast<const uint8_t*>(base)[i]));
    case Dtype::kF8E5M2:
      return static_cast<double>(f8e5m2_to_f32(static_cast<const uint8_t*>(base)[i]));
    default:
      return static_cast<const std::complex<float>*>(base)[i];
  }
}

void set_element(void* base, int64_t i, Dtype dtype, std::complex<double> value) {
  const auto real = static_cast<float>(value.real());
  switch (dtype) {
    case Dtype::kF32:
      static_cast<float*>(base)[i] = real;
      return;
    case Dtype::kF64:
      static_cast<double*>(base)[i] = value.real();
      return;
    case Dtype::kF16:
      static_cast<uint16_t*>(base)[i] = runtime::f32_to_f16(real);
      return;
    case Dtype::kBF16:
      static_cast<uint16_t*>(base)[i] = runtime::f32_to_bf16(real);
      return;
    default:
      static_cast<std::complex<float>*>(base)[i] = {real, static_cast<float>(value.imag())};
  }
}

}  // namespace shw::fakes
