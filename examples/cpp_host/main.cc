// A small framework that is not PyTorch trains a network twice: on one device with kernels of its
// own, and on 8 virtual ranks with Shardwise, which gets the framework's tape, memory and threads.
// Both give the same losses and the same parameters.
#include <cmath>
#include <cstdio>
#include <exception>

#include "interpreter.h"
#include "sharded.h"
#include "tape.h"
#include "threads.h"

namespace {

constexpr int kSteps = 20;
constexpr std::int64_t kBatch = 64, kIn = 16, kHidden = 64, kOut = 8;

// A network of two layers with biases, and one step of its training.
host::Tape record() {
  host::Tape tape;
  const host::Id x = tape.input("x", {kBatch, kIn}), target = tape.input("target", {kBatch, kOut});
  const host::Id w1 = tape.parameter("w1", {kIn, kHidden}), b1 = tape.parameter("b1", {kHidden});
  const host::Id w2 = tape.parameter("w2", {kHidden, kOut}), b2 = tape.parameter("b2", {kOut});
  const host::Id hidden = tape.relu(tape.add(tape.matmul(x, w1), b1));
  const host::Id error = tape.sub(tape.add(tape.matmul(hidden, w2), b2), target);
  tape.minimise(tape.mean(tape.mul(error, error)), 0.2);
  return tape;
}

// Numbers from -scale to scale, always the same.
host::Tensor random(host::Memory& memory, host::Shape shape, std::uint32_t seed, float scale) {
  host::Tensor tensor(memory, std::move(shape));
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    tensor.data()[i] = (static_cast<float>(state >> 8) / (1 << 23) - 1) * scale;
  }
  return tensor;
}

// Distance of two tensors, relative to the size of the first.
double difference(const host::Tensor& a, const host::Tensor& b) {
  double distance = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    distance += std::pow(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]), 2);
    size += std::pow(static_cast<double>(a.data()[i]), 2);
  }
  return std::sqrt(distance / size);
}

bool train(host::Memory& memory, host::Threads& threads) {
  const host::Tape tape = record();
  const host::Tensors parameters = {{"w1", random(memory, {kIn, kHidden}, 1, 0.4f)},
                                    {"b1", random(memory, {kHidden}, 2, 0.1f)},
                                    {"w2", random(memory, {kHidden, kOut}, 3, 0.2f)},
                                    {"b2", random(memory, {kOut}, 4, 0.1f)}};
  const host::Tensors inputs = {{"x", random(memory, {kBatch, kIn}, 5, 1)},
                                {"target", random(memory, {kBatch, kOut}, 6, 1)}};
  host::Interpreter alone(memory, threads, tape, parameters);
  host::Sharded sharded(memory, threads, tape, parameters, 4, 2);
  std::printf("%s\n%8s %12s %12s\n", sharded.report().c_str(), "step", "one device", "8 ranks");

  bool good = true;
  float before = INFINITY;
  for (int step = 0; step < kSteps; ++step) {
    const float one = alone.step(inputs), eight = sharded.step(inputs);
    std::printf("%8d %12.6f %12.6f\n", step, static_cast<double>(one), static_cast<double>(eight));
    good = good && std::fabs(one - eight) <= 1e-5f * one && eight < before;
    before = eight;
  }
  for (const auto& [name, tensor] : parameters) {
    const double apart = difference(alone.parameter(name), sharded.parameter(name));
    std::printf("%s: %.2g apart\n", name.c_str(), apart);
    good = good && apart <= 1e-5;
  }
  return good;
}

}  // namespace

int main() {
  try {
    host::Memory memory;
    host::Threads threads(4);
    const bool good = train(memory, threads);
    std::printf("%zu tasks, %zu bytes at most, %zu now: %s\n", threads.tasks_run(),
                memory.peak_bytes(), memory.bytes_in_use(), good ? "equal" : "DIFFERENT");
    return good && memory.bytes_in_use() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cpp_host: %s\n", error.what());
    return 1;
  }
}
