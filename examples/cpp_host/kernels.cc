#include "kernels.h"

#include <algorithm>

namespace host {
namespace {

void matmul(Threads& threads, const Tensor& a, const Tensor& b, const Tensor& c) {
  const auto inner = static_cast<std::size_t>(a.shape()[1]),
             columns = static_cast<std::size_t>(b.shape()[1]);
  threads.for_each(static_cast<std::size_t>(a.shape()[0]), [&](std::size_t i) {
    float* row = c.data() + i * columns;
    std::fill(row, row + columns, 0.0f);
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t j = 0; j < columns; ++j)
        row[j] += a.data()[i * inner + k] * b.data()[k * columns + j];
  });
}

void transpose(const Tensor& a, const Tensor& b) {
  const auto rows = static_cast<std::size_t>(a.shape()[0]),
             columns = static_cast<std::size_t>(a.shape()[1]);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) b.data()[j * rows + i] = a.data()[i * columns + j];
}

float mean(const Tensor& a) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a.data()[i]);
  return static_cast<float>(sum / static_cast<double>(a.size()));
}

void sum_rows(const Tensor& a, const Tensor& b) {
  std::fill(b.data(), b.data() + b.size(), 0.0f);
  for (std::size_t i = 0; i < a.size(); ++i) b.data()[i % b.size()] += a.data()[i];
}

}  // namespace

void compute(Threads& threads, const Operation& op, const std::vector<Tensor>& x, const Tensor& y) {
  const auto each = [&](auto element) {
    for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = element(i);
  };
  const auto at = [&](std::size_t operand, std::size_t i) {
    return x[operand].data()[i % x[operand].size()];
  };
  switch (op.kind) {
    case Kind::kInput:
    case Kind::kParameter:
      return;
    case Kind::kMatmul:
      return matmul(threads, x[0], x[1], y);
    case Kind::kTranspose:
      return transpose(x[0], y);
    case Kind::kAdd:
      return each([&](std::size_t i) { return at(0, i) + at(1, i); });
    case Kind::kSub:
      return each([&](std::size_t i) { return at(0, i) - at(1, i); });
    case Kind::kMul:
      return each([&](std::size_t i) { return at(0, i) * at(1, i); });
    case Kind::kScale:
      return each([&](std::size_t i) { return at(0, i) * static_cast<float>(op.factor); });
    case Kind::kRelu:
      return each([&](std::size_t i) { return std::max(at(0, i), 0.0f); });
    case Kind::kReluGradient:
      return each([&](std::size_t i) { return at(1, i) > 0 ? at(0, i) : 0.0f; });
    case Kind::kMean:
      y.data()[0] = mean(x[0]);
      return;
    case Kind::kSumRows:
      return sum_rows(x[0], y);
  }
}

}  // namespace host
