// Compiled loops for the steps of a group give the same bits as the steps' own kernels.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "runtime/cpu/device.h"
#include "runtime/half.h"
#include "runtime/host_kernel.h"

namespace shw::runtime::cpu {
namespace {

bool machine_compiles() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

TensorType floats(Dims shape) { return row_major(Dtype::kF32, shape); }
constexpr Dtype kCompiled[] = {Dtype::kF32, Dtype::kBF16};
Attrs with_attr(AttrKey key, AttrValue value) {
  Attrs attrs;
  attrs.set(key, std::move(value));
  return attrs;
}
Attrs last_dim() {
  Attrs attrs = with_attr(AttrKey::kDims, std::vector<int64_t>{-1});
  attrs.set(AttrKey::kKeepDim, true);
  return attrs;
}

struct TestStep {
  std::string kernel;
  std::vector<int> inputs;  // values; -1: absent
  int output;
  Attrs attrs = {};
};

// Steps over values. Each value has its own memory or shares that of another value.
struct TestGroup {
  std::vector<TensorType> types;
  std::vector<int> memory;      // by value
  std::vector<bool> temporary;  // by value: nobody else reads it
  std::vector<int64_t> offset;  // by value: bytes from the start of the memory
  std::vector<TestStep> steps;

  int value(const TensorType& type, bool is_temporary = false, int in_place_of = -1) {
    const int v = static_cast<int>(types.size());
    types.push_back(type);
    memory.push_back(in_place_of < 0 ? v : memory[static_cast<size_t>(in_place_of)]);
    temporary.push_back(is_temporary);
    offset.push_back(0);
    return v;
  }
};

// The memory of a test group, and runs of the group's steps in it.
class Runner {
 public:
  // Every value begins `offset_bytes` after a multiple of 64.
  explicit Runner(const TestGroup& group, int64_t offset_bytes = 0)
      : group_(group), offset_(offset_bytes) {
    for (size_t v = 0; v < group.types.size(); ++v)
      memory_.emplace_back(static_cast<size_t>(end_of(v) + offset_bytes + 128), std::byte{0x7f});
    for (size_t s = 0; s < group.steps.size(); ++s) add_step(group.steps[s]);
  }

  std::byte* at(int value) {
    std::byte* begin =
        memory_[static_cast<size_t>(group_.memory[static_cast<size_t>(value)])].data();
    begin += (64 - reinterpret_cast<uintptr_t>(begin) % 64) % 64;
    return begin + offset_ + group_.offset[static_cast<size_t>(value)];
  }
  // All elements from the first to the last, including any gaps between them.
  std::vector<float> elements(int value) {
    std::vector<float> all(num_elements(value));
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = is_bf16(value) ? bf16_to_f32(reinterpret_cast<uint16_t*>(at(value))[i])
                              : reinterpret_cast<float*>(at(value))[i];
    return all;
  }
  template <class Fill>
  void fill(int value, const Fill& number) {
    for (size_t i = 0; i < num_elements(value); ++i) {
      if (is_bf16(value))
        reinterpret_cast<uint16_t*>(at(value))[i] = f32_to_bf16(number(value, i));
      else
        reinterpret_cast<float*>(at(value))[i] = number(value, i);
    }
  }

  void run_steps() {
    for (const GroupStep& step : steps_) run(*prepare(step), {&step, 1});
  }
  // Runs the steps as a device runs a group: as many together as possible. Returns how many ran
  // together.
  size_t run_group() {
    size_t together = 0;
    const std::span<const GroupStep> all(steps_);
    for (size_t s = 0; s < all.size();) {
      auto kernel = device_.prepare_group(all.subspan(s));
      if (kernel.ok()) {
        run(*kernel->kernel, all.subspan(s, kernel->num_steps));
        together += kernel->num_steps;
        s += kernel->num_steps;
      } else {
        EXPECT_EQ(kernel.status().code(), Code::kUnimplemented) << kernel.status().message();
        run(*prepare(all[s]), all.subspan(s, 1));
        ++s;
      }
    }
    return together;
  }

 private:
  void add_step(const TestStep& step) {
    auto& types = types_.emplace_back(std::make_unique<Operands>());
    for (const int v : step.inputs) add_operand(*types, v);
    add_operand(*types, step.output);
    const std::span<const TensorType* const> all(types->types);
    steps_.push_back({step.kernel,
                      {all.first(step.inputs.size()), all.last(1), step.attrs, mesh_, 0},
                      types->at});
  }
  struct Operands {
    std::vector<const TensorType*> types;
    std::vector<GroupOperand> at;
  };
  void add_operand(Operands& operands, int v) {
    GroupOperand& at = operands.at.emplace_back();
    if (v < 0) {
      operands.types.push_back(nullptr);
      return;
    }
    const auto value = static_cast<size_t>(v);
    operands.types.push_back(&group_.types[value]);
    at.memory = group_.memory[value];
    at.offset_bytes = group_.offset[value];
    at.end_bytes = end_of(value);
    at.is_temporary = group_.temporary[value];
  }
  std::unique_ptr<PreparedKernel> prepare(const GroupStep& step) {
    auto kernel = device_.prepare(step.kernel, step.args);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    return std::move(*kernel);
  }
  void run(PreparedKernel& kernel, std::span<const GroupStep> steps) {
    std::vector<void*> buffers;
    for (const GroupStep& step : steps) {
      const auto& test = group_.steps[static_cast<size_t>(&step - steps_.data())];
      for (const int v : test.inputs) buffers.push_back(v < 0 ? nullptr : at(v));
      buffers.push_back(at(test.output));
    }
    std::vector<std::byte> workspace(static_cast<size_t>(kernel.workspace_bytes()) + 64);
    buffers.push_back(workspace.data() +
                      (64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64) % 64);
    ASSERT_TRUE(static_cast<HostKernel&>(kernel).compute(buffers.data()).ok());
  }

  int64_t end_of(size_t value) const {
    const TensorType& type = group_.types[value];
    int64_t last = 0;
    for (size_t d = 0; d < type.shape.size(); ++d) last += (type.shape[d] - 1) * type.strides[d];
    return group_.offset[value] + (last + 1) * dtype_size(type.dtype);
  }
  bool is_bf16(int value) const {
    return group_.types[static_cast<size_t>(value)].dtype == Dtype::kBF16;
  }
  size_t num_elements(int value) const {
    const auto v = static_cast<size_t>(value);
    return static_cast<size_t>((end_of(v) - group_.offset[v]) / dtype_size(group_.types[v].dtype));
  }

  const TestGroup& group_;
  const int64_t offset_;
  const Mesh mesh_ = *Mesh::parse("a=1");
  CpuDevice device_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::unique_ptr<Operands>> types_;
  std::vector<GroupStep> steps_;
};

void expect_same_bits(std::span<const float> a, std::span<const float> b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i]))
        << what << ", element " << i << ": " << a[i] << " and " << b[i];
  }
}

// Runs the group both ways on the same inputs. Returns how many steps ran together.
template <class Fill>
size_t expect_same(const TestGroup& group, const std::vector<int>& inputs, const Fill& fill,
                   int64_t offset_bytes = 0) {
  Runner plain(group, offset_bytes), together(group, offset_bytes);
  for (const int v : inputs) {
    plain.fill(v, fill);
    together.fill(v, fill);
  }
  plain.run_steps();
  const size_t count = together.run_group();
  for (size_t v = 0; v < group.types.size(); ++v)
    if (!group.temporary[v])
      expect_same_bits(plain.elements(static_cast<int>(v)), together.elements(static_cast<int>(v)),
                       "value " + std::to_string(v));
  return count;
}

// Floats of all magnitudes, including special values.
float any_float(uint64_t i) {
  static constexpr float kSpecial[] = {
      0.0f,    -0.0f, 1.0f,   -1.0f,        0x1p-149f, -0x1p-126f, 88.72f, -87.34f,
      -103.9f, 89.0f, 0.625f, 0.927734375f, INFINITY,  -INFINITY,  NAN,    3.4e38f};
  if (i < std::size(kSpecial)) return kSpecial[i];
  uint64_t bits = i * 0x9e3779b97f4a7c15;  // splitmix64
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  if (i % 2 == 0) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return std::ldexp(static_cast<float>(static_cast<int64_t>(bits)), -60);  // up to 8
}

struct Operation {
  std::string kernel;
  int operands;
  Attrs attrs = {};
};

TEST(CompiledGroup, EveryFormulaGivesTheBitsOfItsKernel) {
  const auto number = [](AttrKey key, double x) { return with_attr(key, x); };
  const Operation operations[] = {
      {"add", 2},
      {"add", 2, number(AttrKey::kAlpha, -0.3)},
      {"sub", 2},
      {"sub", 2, number(AttrKey::kAlpha, 2.5)},
      {"mul", 2},
      {"div", 2},
      {"add", 1, number(AttrKey::kOther, 0.7)},
      {"sub", 1, number(AttrKey::kSelf, 1)},
      {"mul", 1, number(AttrKey::kOther, -3)},
      {"div", 1, number(AttrKey::kOther, 3)},
      {"div", 1, number(AttrKey::kSelf, 3)},
      {"neg", 1},
      {"relu", 1},
      {"exp", 1},
      {"sigmoid", 1},
      {"silu", 1},
      {"silu_backward", 2},
      {"tanh", 1},
      {"tanh_backward", 2},
      {"gelu", 1},
      {"gelu", 1, with_attr(AttrKey::kApproximate, std::string("tanh"))},
      {"gelu_backward", 2},
      {"gelu_backward", 2, with_attr(AttrKey::kApproximate, std::string("tanh"))},
      {"erf", 1},
      {"rsqrt", 1},
      {"sqrt", 1},
      {"reciprocal", 1},
      {"abs", 1},
      {"sigmoid_backward", 2},
      {"threshold_backward", 2, number(AttrKey::kThreshold, 0.5)},
      {"clamp", 1, number(AttrKey::kMin, -0.5)},
      {"clamp", 1, number(AttrKey::kMax, 0.5)},
      {"pow", 1, number(AttrKey::kExponent, 2)},
      {"pow", 1, number(AttrKey::kExponent, 3)},
      {"pow", 1, number(AttrKey::kExponent, 0.5)},
      {"pow", 1, number(AttrKey::kExponent, -0.5)},
      {"pow", 1, number(AttrKey::kExponent, -1)}};
  for (const Operation& op : operations) {
    TestGroup group;
    const TensorType type = floats({70'001});
    const int a = group.value(type), b = group.value(type), y = group.value(type),
              z = group.value(type);
    group.steps.push_back(
        {op.kernel, op.operands == 1 ? std::vector<int>{a} : std::vector<int>{a, b}, y, op.attrs});
    if (op.operands == 1 && (op.attrs.has(AttrKey::kSelf))) group.steps.back().inputs = {-1, a};
    group.steps.push_back({"mul", {y, b}, z});
    SCOPED_TRACE(op.kernel);
    const size_t together = expect_same(group, {a, b}, [](int v, size_t i) {
      return any_float(v == 0 ? i : (i * 7 + 3) % 65'537);
    });
    EXPECT_EQ(together, machine_compiles() ? 2U : 0U) << op.kernel;
  }
}

// All numbers of bf16, and f32 values of all kinds that are rounded to bf16.
TEST(CompiledGroup, ConversionsOfBf16GiveTheBitsOfTheirKernel) {
  TestGroup group;
  const Dims shape{65'536};
  const int x = group.value(row_major(Dtype::kBF16, shape)), wide = group.value(floats(shape)),
            y = group.value(floats(shape)), sum = group.value(floats(shape), true),
            narrow = group.value(row_major(Dtype::kBF16, shape)),
            product = group.value(row_major(Dtype::kBF16, shape));
  group.steps = {{"convert_element_type", {x}, wide},
                 {"sub", {y, wide}, sum},
                 {"convert_element_type", {y}, narrow},
                 {"mul", {narrow, sum}, product}};
  const auto fill = [&](int v, size_t i) {
    return v == x ? bf16_to_f32(static_cast<uint16_t>(i)) : any_float(i);
  };
  EXPECT_EQ(expect_same(group, {x, y}, fill), machine_compiles() ? 4U : 0U);
}

// Rows of every length up to several vectors, to cover every remainder.
TEST(CompiledGroup, RowsOfAnyLengthAreSummedAsTheReductionDoes) {
  for (int64_t n = 1; n < 70; ++n) {
    TestGroup group;
    const TensorType whole = floats({3, n}), rows = floats({3, 1});
    const int x = group.value(whole), square = group.value(whole, true),
              mean = group.value(rows, true), scale = group.value(rows), y = group.value(whole),
              sum = group.value(rows);
    group.steps = {{"pow", {x}, square, with_attr(AttrKey::kExponent, int64_t{2})},
                   {"mean", {square}, mean, last_dim()},
                   {"rsqrt", {mean}, scale},
                   {"mul", {x, scale}, y},
                   {"sum", {y}, sum, last_dim()}};
    const size_t together =
        expect_same(group, {x}, [](int, size_t i) { return any_float(2 * i + 33); });
    EXPECT_EQ(together, machine_compiles() && n > 1 ? 5U : together) << n;
  }
}

// Results larger than the caches bypass them, starting at the first whole vector.
TEST(CompiledGroup, LargeResultsAreTheSameWhereverTheyBegin) {
  for (const int64_t offset : {0, 4, 32}) {
    TestGroup group;
    const TensorType type = floats({1024, 1024});
    const int x = group.value(type), y = group.value(type, true), z = group.value(type);
    group.steps = {{"exp", {x}, y}, {"sub", {y, x}, z}};
    expect_same(
        group, {x}, [](int, size_t i) { return static_cast<float>(i % 1000) / 100.0f; }, offset);
  }
}

// Rotary embeddings swap the halves of each row, forward and backward.
TEST(CompiledGroup, PartsOfRowsMayComeFromElsewhere) {
  for (const Dtype dtype : kCompiled)
    for (const int64_t n : {2, 24, 64, 70}) {
      const auto floats = [&](Dims shape) { return row_major(dtype, shape); };
      const Dims heads{2, 3, n}, halves{2, 3, n / 2};
      const Dims gaps{3 * 2 * n, 2 * n, 1};  // a window with gaps
      TestGroup group;
      const int x = group.value({heads, gaps, dtype}), c = group.value(floats({3, n})),
                s = group.value(floats({3, n})), cosine = group.value(floats(heads), true),
                turned = group.value(floats(halves), true),
                swapped = group.value(floats(heads), true), sine = group.value(floats(heads), true),
                y = group.value(floats(heads)),
                first = group.value({halves, gaps, dtype}, false, x),
                last = group.value({halves, gaps, dtype}, false, x);
      group.offset[static_cast<size_t>(last)] = n / 2 * dtype_size(dtype);
      group.steps = {{"mul", {x, c}, cosine},
                     {"neg", {last}, turned},
                     {"cat", {turned, first}, swapped, with_attr(AttrKey::kDim, int64_t{-1})},
                     {"mul", {swapped, s}, sine},
                     {"add", {cosine, sine}, y}};
      const auto fill = [](int v, size_t i) {
        return any_float(static_cast<uint64_t>(v) * 977 + 2 * i + 33);
      };
      EXPECT_EQ(expect_same(group, {x, c, s}, fill), machine_compiles() ? 5U : 0U) << n;
    }
}
TEST(CompiledGroup, SlicesMayBeLaidIntoRows) {
  for (const Dtype dtype : kCompiled)
    for (const int64_t n : {3, 64, 70}) {
      const auto floats = [&](Dims shape) { return row_major(dtype, shape); };
      const Dims whole{2, 3, n}, part{2, 3, n - 2};
      TestGroup group;
      const int x = group.value(floats(whole)), g = group.value(floats(part)),
                e = group.value(floats(part), true), laid = group.value(floats(whole), true),
                y = group.value(floats(whole)), z = group.value(floats(whole));
      Attrs slice = with_attr(AttrKey::kDim, int64_t{-1});
      slice.set(AttrKey::kStart, int64_t{1});
      slice.set(AttrKey::kEnd, n - 1);
      group.steps = {{"exp", {g}, e},
                     {"slice_scatter", {x, e}, laid, slice},
                     {"add", {laid, x}, y},
                     {"neg", {y}, z}};
      const auto fill = [](int v, size_t i) {
        return any_float(static_cast<uint64_t>(v) * 977 + 2 * i + 33);
      };
      EXPECT_EQ(expect_same(group, {x, g}, fill), machine_compiles() ? 4U : 0U) << n;
    }
}
// The gradient of a rotary embedding swaps halves of values that the group itself computes.
TEST(CompiledGroup, PartsOfResultsMayBeTakenApart) {
  for (const Dtype dtype : kCompiled)
    for (const int64_t n : {2, 24, 64}) {
      const auto floats = [&](Dims shape) { return row_major(dtype, shape); };
      const Dims heads{2, 3, n}, halves{2, 3, n / 2}, strides{3 * n, n, 1};
      TestGroup group;
      const int g = group.value(floats(heads)), c = group.value(floats(heads)),
                s = group.value(floats(heads)), zeros = group.value(floats(heads)),
                sine = group.value(floats(heads), true),
                last = group.value({halves, strides, dtype}, true, sine),
                first = group.value({halves, strides, dtype}, true, sine),
                a = group.value(floats(heads), true), turned = group.value(floats(halves), true),
                b = group.value(floats(heads), true), sum = group.value(floats(heads), true),
                cosine = group.value(floats(heads), true), y = group.value(floats(heads));
      group.offset[static_cast<size_t>(last)] = n / 2 * dtype_size(dtype);
      const auto at = [&](int64_t begin) {
        Attrs slice = with_attr(AttrKey::kDim, int64_t{-1});
        slice.set(AttrKey::kStart, begin);
        slice.set(AttrKey::kEnd, begin + n / 2);
        return slice;
      };
      group.steps = {{"mul", {g, s}, sine},    {"slice_scatter", {zeros, last}, a, at(0)},
                     {"neg", {first}, turned}, {"slice_scatter", {zeros, turned}, b, at(n / 2)},
                     {"add", {a, b}, sum},     {"mul", {g, c}, cosine},
                     {"add", {cosine, sum}, y}};
      const auto fill = [](int v, size_t i) {
        return any_float(static_cast<uint64_t>(v) * 977 + 2 * i + 33);
      };
      EXPECT_EQ(expect_same(group, {g, c, s, zeros}, fill), machine_compiles() ? 7U : 0U) << n;
    }
}
// One part of the result must not be written before another part of the operand has been read.
TEST(CompiledGroup, PartsDoNotOverwriteWhatOthersRead) {
  const int64_t n = 64;
  const Dims whole{4, n}, half{4, n / 2}, strides{n, 1};
  TestGroup group;
  const int x = group.value(floats(whole)),
            first = group.value({half, strides, Dtype::kF32}, false, x),
            last = group.value({half, strides, Dtype::kF32}, false, x),
            swapped = group.value(floats(whole), true), y = group.value(floats(whole), false, x);
  group.offset[static_cast<size_t>(last)] = n / 2 * 4;
  group.steps = {{"cat", {last, first}, swapped, with_attr(AttrKey::kDim, int64_t{-1})},
                 {"exp", {swapped}, y}};
  expect_same(group, {x}, [](int, size_t i) { return any_float(2 * i + 33); });
}

// Steps over whole tensors, rows and columns. They include sums, results that nobody else reads,
// and results that overwrite operands. With the later seeds some values are bf16.
class RandomGroup : public ::testing::TestWithParam<int> {};
TEST_P(RandomGroup, GivesTheSameBits) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  const auto below = [&](size_t n) { return static_cast<int>(random() % n); };
  const int64_t outer = 1 + below(4), rows = 1 + below(6), n = 1 + below(80);
  const TensorType whole = floats({outer, rows, n}), row = floats({outer, rows, 1}),
                   column = floats({n});
  const bool mixed = GetParam() >= 400;
  const auto of_some_type = [&](TensorType type) {
    if (mixed && below(2) == 0) type.dtype = Dtype::kBF16;
    return type;
  };
  TestGroup group;
  std::vector<int> inputs, alive;
  for (int i = 0; i < 3; ++i) inputs.push_back(group.value(of_some_type(whole)));
  inputs.push_back(group.value(of_some_type(row)));
  inputs.push_back(group.value(of_some_type(column)));
  alive = inputs;
  const char* kBinary[] = {"add", "sub", "mul"};
  const char* kUnary[] = {"neg", "sigmoid", "relu", "tanh", "abs", "convert_element_type"};
  const size_t num_unary = std::size(kUnary) - (mixed ? 0 : 1);
  for (int s = 0, count = 2 + below(14); s < count; ++s) {
    const int a = alive[static_cast<size_t>(below(alive.size()))],
              b = alive[static_cast<size_t>(below(alive.size()))];
    const auto type_of = [&](int v) -> const TensorType& {
      return group.types[static_cast<size_t>(v)];
    };
    TestStep step;
    TensorType type = whole;
    if (below(5) == 0 && type_of(a).shape == whole.shape) {
      step = {below(2) == 0 ? "sum" : "mean", {a}, -1, last_dim()};
      type = row;
    } else if (below(2) == 0 && type_of(a).rank() == 3) {
      step = {kUnary[below(num_unary)], {a}, -1};
      type = of_some_type(type_of(a));
    } else {
      step = {kBinary[below(std::size(kBinary))], {a, b}, -1};
      if (type_of(a).shape == row.shape && type_of(b).shape == row.shape) type = row;
      type = of_some_type(type);
    }
    // The result overwrites an operand that nobody reads any more.
    const bool in_place = below(4) == 0 && step.inputs.size() == 2 && type_of(a) == type && a != b;
    step.output = group.value(type, below(2) == 0, in_place ? a : -1);
    if (in_place) {
      std::erase_if(alive, [&](int v) {
        return group.memory[static_cast<size_t>(v)] == group.memory[static_cast<size_t>(a)];
      });
      group.temporary[static_cast<size_t>(step.output)] = group.temporary[static_cast<size_t>(a)];
    }
    alive.push_back(step.output);
    group.steps.push_back(std::move(step));
  }
  expect_same(group, inputs, [](int v, size_t i) {
    return any_float(static_cast<uint64_t>(v) * 1009 + 2 * i + 33);
  });
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGroup, ::testing::Range(0, 800));

}  // namespace
}  // namespace shw::runtime::cpu
