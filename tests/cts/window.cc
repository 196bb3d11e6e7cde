#include "cts/window.h"

#include <cmath>

#include "float8.h"
#include "runtime/half.h"

namespace shw::cts {
namespace {

template <class T>
T read(const std::byte* p) {
  T t;
  std::memcpy(&t, p, sizeof t);
  return t;
}
template <class T>
void write(std::byte* p, T t) {
  std::memcpy(p, &t, sizeof t);
}

Number load(const std::byte* p, Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return static_cast<double>(read<float>(p));
    case Dtype::kF64:
      return read<double>(p);
    case Dtype::kF16:
      return static_cast<double>(runtime::f16_to_f32(read<uint16_t>(p)));
    case Dtype::kBF16:
      return static_cast<double>(runtime::bf16_to_f32(read<uint16_t>(p)));
    case Dtype::kI8:
      return read<int8_t>(p);
    case Dtype::kI16:
      return read<int16_t>(p);
    case Dtype::kI32:
      return read<int32_t>(p);
    case Dtype::kI64:
      return static_cast<double>(read<int64_t>(p));
    case Dtype::kU8:
      return read<uint8_t>(p);
    case Dtype::kBool:
      return read<uint8_t>(p);
    case Dtype::kC64:
      return {static_cast<double>(read<float>(p)), static_cast<double>(read<float>(p + 4))};
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return testing::float8_value(dtype, read<uint8_t>(p));
  }
  return 0;
}

void store(std::byte* p, Dtype dtype, Number v) {
  const double x = v.real();
  switch (dtype) {
    case Dtype::kF32:
      return write(p, static_cast<float>(x));
    case Dtype::kF64:
      return write(p, x);
    case Dtype::kF16:
      return write(p, runtime::f32_to_f16(static_cast<float>(x)));
    case Dtype::kBF16:
      return write(p, runtime::f32_to_bf16(static_cast<float>(x)));
    case Dtype::kI8:
      return write(p, static_cast<int8_t>(static_cast<int64_t>(x)));
    case Dtype::kI16:
      return write(p, static_cast<int16_t>(static_cast<int64_t>(x)));
    case Dtype::kI32:
      return write(p, static_cast<int32_t>(static_cast<int64_t>(x)));
    case Dtype::kI64:
      return write(p, static_cast<int64_t>(x));
    case Dtype::kU8:
      return write(p, static_cast<uint8_t>(static_cast<int64_t>(x)));
    case Dtype::kBool:
      return write(p, static_cast<uint8_t>(v != 0.0));
    case Dtype::kC64:
      write(p, static_cast<float>(x));
      return write(p + 4, static_cast<float>(v.imag()));
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return write(p, testing::nearest_float8(dtype, static_cast<double>(static_cast<float>(x))));
  }
}

uint64_t scramble(int64_t i, int salt) {
  uint64_t x = (static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(salt);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 27;
}

}  // namespace

Window::Window(Dtype dtype, const Dims& shape, Lie lie) : type_(row_major(dtype, shape)) {
  const size_t rank = shape.size();
  int64_t elements = 1, first = 0;
  if (lie == Lie::kReversed) {
    for (size_t d = 0; d < rank; ++d) {
      type_.strides[d] = elements;
      elements *= std::max<int64_t>(1, shape[d]);
    }
  } else {
    if (lie == Lie::kGaps || lie == Lie::kShifted) first = 3;
    if (lie == Lie::kGaps) elements = 2;
    for (size_t d = rank; d-- > 0;) {
      type_.strides[d] = elements;
      if (lie == Lie::kExpanded && d == 0)
        type_.strides[d] = 0;
      else
        elements *= std::max<int64_t>(1, shape[d]);
      if (lie == Lie::kPadded && d + 1 == rank) elements += 5;
    }
  }
  offset_ = first * dtype_size(dtype);
  bytes_.assign(static_cast<size_t>((first + elements + 1) * dtype_size(dtype)), std::byte{0xa5});
}

Window& Window::fill(const std::function<Number(int64_t)>& f) {
  int64_t i = 0;
  for_each_index(shape(), [&](const Index& index) { set(index, f(i++)); });
  return *this;
}

Window& Window::permute(const std::vector<size_t>& order) {
  const TensorType from = type_;
  for (size_t d = 0; d < order.size(); ++d) {
    type_.shape[d] = from.shape[order[d]];
    type_.strides[d] = from.strides[order[d]];
  }
  return *this;
}

size_t Window::place(const Index& index) const {
  int64_t element = 0;
  for (size_t d = 0; d < index.size(); ++d) element += index[d] * type_.strides[d];
  return static_cast<size_t>(offset_ + element * dtype_size(dtype()));
}

Number Window::get(const Index& index) const { return load(&bytes_[place(index)], dtype()); }
void Window::set(const Index& index, Number value) { store(&bytes_[place(index)], dtype(), value); }

Number Window::broadcast(const Index& index) const {
  Index own(index.end() - static_cast<std::ptrdiff_t>(shape().size()), index.end());
  for (size_t d = 0; d < own.size(); ++d)
    if (shape()[d] == 1) own[d] = 0;
  return get(own);
}

std::vector<std::byte> Window::gaps() const {
  std::vector<bool> used(bytes_.size());
  for_each_index(shape(), [&](const Index& index) {
    for (int64_t b = 0; b < dtype_size(dtype()); ++b)
      used[place(index) + static_cast<size_t>(b)] = true;
  });
  std::vector<std::byte> rest;
  for (size_t i = 0; i < bytes_.size(); ++i)
    if (!used[i]) rest.push_back(bytes_[i]);
  return rest;
}

void for_each_index(const Dims& shape, const std::function<void(const Index&)>& f) {
  for (int64_t size : shape)
    if (size == 0) return;
  Index index(shape.size(), 0);
  while (true) {
    f(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

Number rounded(Dtype dtype, Number value) {
  std::byte bytes[8];
  store(bytes, dtype, value);
  return load(bytes, dtype);
}

std::function<Number(int64_t)> whole_numbers(Dtype dtype, int salt) {
  return [dtype, salt](int64_t i) -> Number {
    const uint64_t bits = scramble(i, salt);
    const auto re = static_cast<double>(bits % 9), im = static_cast<double>(bits / 9 % 9);
    if (dtype == Dtype::kBool) return static_cast<double>(bits & 1);
    if (dtype == Dtype::kU8) return re;
    if (dtype == Dtype::kC64) return {re - 4, im - 4};
    return re - 4;
  };
}

std::function<Number(int64_t)> fractions(int salt) {
  return [salt](int64_t i) -> Number {
    const uint64_t bits = scramble(i, salt);
    const auto fraction = [](uint64_t b) { return static_cast<double>(b % 4001) / 1000 - 2; };
    return {fraction(bits), fraction(bits >> 20)};
  };
}

}  // namespace shw::cts
