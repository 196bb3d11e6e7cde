#include "runtime/bench/fill.h"

#include <cstring>
#include <vector>

#include "runtime/half.h"
#include "tensor/float8.h"

namespace shw::runtime {
namespace {

// Pseudo-random numbers that are the same on every machine (xorshift*).
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1d >> 32;
  }
  float number() { return (static_cast<float>(next()) * 0x1p-31f - 1) * 0x1p-4f; }
  int64_t below(int64_t bound) {
    return bound <= 0 ? 0 : static_cast<int64_t>(next() % static_cast<uint64_t>(bound));
  }

 private:
  uint64_t state_;
};

template <class T, class F>
void fill(std::vector<std::byte>& bytes, F&& next) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    const T value = next();
    std::memcpy(bytes.data() + i, &value, sizeof(T));
  }
}

}  // namespace

Status fill_with_numbers(Device& device, const Buffer& buffer, Dtype dtype, int64_t bound,
                         uint64_t seed) {
  if (!device.can().computes) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(buffer.bytes()));
  Numbers n(seed);
  switch (dtype) {
    case Dtype::kF32:
    case Dtype::kC64:
      fill<float>(bytes, [&] { return n.number(); });
      break;
    case Dtype::kF64:
      fill<double>(bytes, [&] { return n.number(); });
      break;
    case Dtype::kBF16:
      fill<uint16_t>(bytes, [&] { return f32_to_bf16(n.number()); });
      break;
    case Dtype::kF16:
      fill<uint16_t>(bytes, [&] { return f32_to_f16(n.number()); });
      break;
    case Dtype::kF8E4M3:
      fill<uint8_t>(bytes, [&] { return f32_to_f8e4m3(n.number()); });
      break;
    case Dtype::kF8E5M2:
      fill<uint8_t>(bytes, [&] { return f32_to_f8e5m2(n.number()); });
      break;
    case Dtype::kBool:
      fill<uint8_t>(bytes, [&] { return static_cast<uint8_t>(n.next() & 1); });
      break;
    case Dtype::kI32:
      fill<int32_t>(bytes, [&] { return static_cast<int32_t>(n.below(bound)); });
      break;
    case Dtype::kI64:
      fill<int64_t>(bytes, [&] { return n.below(bound); });
      break;
    default:  // zeros
      break;
  }
  return device.copy(buffer.data(), bytes.data(), buffer.bytes(), CopyKind::kHostToDevice);
}

}  // namespace shw::runtime
