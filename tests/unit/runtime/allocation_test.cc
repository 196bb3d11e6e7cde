// In the steady state no thread allocates memory. If an error occurs while no memory is available,
// the threads of the runtime must still cope. This program's operator new counts its calls and can
// be told to fail.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

#include "cts/region_cases.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace {

std::atomic<bool> g_counting{false};
std::atomic<int64_t> g_allocations{0};
std::atomic<bool> g_failing{false};  // on all threads that are not spared
thread_local bool t_spared = false;

void* counted(size_t bytes, size_t alignment) {
  if (g_failing.load(std::memory_order_relaxed) && !t_spared) return nullptr;
  if (g_counting.load(std::memory_order_relaxed)) ++g_allocations;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* counted_or_throw(size_t bytes, size_t alignment) {
  void* p = counted(bytes, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

constexpr size_t kDefault = alignof(std::max_align_t);

}  // namespace

// The array forms of operator new call these.
void* operator new(size_t n) { return counted_or_throw(n, kDefault); }
void* operator new(size_t n, std::align_val_t a) {
  return counted_or_throw(n, static_cast<size_t>(a));
}
void* operator new(size_t n, const std::nothrow_t&) noexcept { return counted(n, kDefault); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(n, static_cast<size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

namespace shw::runtime {
namespace {

using shw::testing::ProgramBuilder;

// Runs a few times first, so that lasting allocations are made. `in` and `out` are indexed by rank.
void expect_no_allocations(VirtualRanks& job, const std::vector<std::vector<BufferRef>>& in,
                           std::vector<std::vector<BufferRef>>& out, int runs) {
  std::vector<Completion> last(in.size());
  const auto run_steps = [&](int count) {
    for (int i = 0; i < count; ++i)
      for (size_t k = 0; k < in.size(); ++k) {
        auto done =
            job.executor(static_cast<int64_t>(k)).enqueue(job.program().entries[0], in[k], out[k]);
        ASSERT_TRUE(done.ok()) << done.status().message();
        last[k] = *done;
      }
    for (const Completion& c : last) ASSERT_TRUE(c.wait().ok()) << c.wait().message();
  };
  run_steps(10);
  g_allocations = 0;
  g_counting = true;
  run_steps(runs);
  g_counting = false;
  EXPECT_EQ(g_allocations, 0);
}

TEST(Allocation, AThousandRunsAllocateNothing) {
  ProgramBuilder b({{"dp", 2}, {"tp", 2}});
  const Layout x_layout = *parse_layout("S(0)R", 2), w_layout = *parse_layout("RS(1)", 2);
  const ValueId x = b.input("x", Dtype::kF32, {8, 16}, x_layout);
  const ValueId w = b.input("w", Dtype::kF32, {16, 16}, w_layout);
  const ValueId h = b.compute("mm", {x, w}, row_major(Dtype::kF32, {4, 8}));
  const ValueId half = b.compute("dtype_cast", {h}, row_major(Dtype::kBF16, {4, 8}));
  const ValueId g = b.collective(CollectiveKind::kAllGather, {1}, half, {2, 4, 8});
  Attrs equation;
  equation.set(AttrKey::kEquation, std::string("gmn,gnk->gmk"));
  const ValueId turned =
      b.view(g, {{2, 8, 4}, {32, 1, 8}, Dtype::kBF16});  // packed before the product
  const ValueId e = b.compute("einsum", {g, turned}, row_major(Dtype::kF32, {2, 4, 4}), equation);
  const ValueId s = b.compute("exp", {e}, row_major(Dtype::kF32, {2, 4, 4}));
  const ValueId r = b.collective(CollectiveKind::kReduceScatter, {1}, s, {4, 4});
  const ValueId sum = b.compute("sum", {r}, row_major(Dtype::kF32, {}));
  const ValueId all = b.collective(CollectiveKind::kAllReduce, {0, 1}, sum, {});
  b.output("y", all, {}, Layout{});
  auto made = VirtualRanks::create(b.finish());
  ASSERT_TRUE(made.ok()) << made.status().message();
  VirtualRanks& job = **made;

  const size_t ranks = static_cast<size_t>(job.num_ranks());
  std::vector<std::vector<BufferRef>> in(ranks), out(ranks);
  std::vector<std::vector<float>> memory(ranks, std::vector<float>(1024));
  for (size_t k = 0; k < ranks; ++k) {
    float* p = memory[k].data();
    in[k] = {Buffer::borrow(p, 64 * 4, {}), Buffer::borrow(p + 64, 128 * 4, {})};
    out[k] = {Buffer::borrow(p + 512, 4, {})};
  }
  expect_no_allocations(job, in, out, 1000);
}

TEST(Allocation, ExchangesOfABodyAllocateNothing) {
  std::array<std::array<float, 64>, 4> memory{};
  const auto exchange = [&memory](const cts::BodyPlace& place) -> Status {
    const auto me = static_cast<size_t>(place.rank);
    const std::array<int64_t, 2> sends{3, 5}, expects{sends[me], sends[me]};
    float *from = memory[me].data(), *to = memory[me + 2].data();
    RegionGroup& group = *place.groups[0];
    SHW_RETURN_IF_ERROR(group.all_to_all_v(from, sends.data(), to, expects.data(), Dtype::kF32));
    return group.all_reduce(from, from, 64, Dtype::kF32, ReduceOp::kMax);
  };
  auto made = VirtualRanks::create(cts::region_plan({{"a", 2}}, "a"),
                                   {.regions = {cts::region_body(exchange)}});
  ASSERT_TRUE(made.ok()) << made.status().message();
  VirtualRanks& job = **made;
  std::array<float, 4> pieces{};
  std::vector<std::vector<BufferRef>> in(2), out(2);
  for (size_t r = 0; r < 2; ++r) {
    in[r] = {Buffer::borrow(&pieces[r], 4, {})};
    out[r] = {Buffer::borrow(&pieces[r + 2], 4, {})};
  }
  expect_no_allocations(job, in, out, 100);
}

// While no thread can allocate, a failing step must end the run on every rank, with its error or
// with one that names what was missing. Afterwards everything must work again.
TEST(Allocation, AnErrorOnAStreamNeedsNoMemory) {
  ProgramBuilder b({{"a", 2}});
  const ValueId table = b.input("table", Dtype::kF32, {4, 2}, *parse_layout("R", 1));
  const ValueId indices = b.input("indices", Dtype::kI64, {2}, *parse_layout("S(0)", 1));
  const ValueId rows = b.compute("embedding", {table, indices}, row_major(Dtype::kF32, {1, 2}));
  const ValueId all = b.collective(CollectiveKind::kAllReduce, {0}, rows, {1, 2});
  b.output("y", all, {1, 2}, *parse_layout("R", 1));
  auto made = VirtualRanks::create(b.finish());
  ASSERT_TRUE(made.ok()) << made.status().message();
  VirtualRanks& job = **made;
  float values[8] = {}, y[2][2];
  int64_t index[2] = {1, 2};
  std::vector<BufferRef> in[2], out[2];
  for (int r = 0; r < 2; ++r) {
    in[r] = {Buffer::borrow(values, sizeof values, {}), Buffer::borrow(&index[r], 8, {})};
    out[r] = {Buffer::borrow(y[r], sizeof y[r], {})};
  }
  t_spared = true;
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (const bool good : {false, true}) {
      index[repeat % 2] = good ? 3 : 4;
      g_failing = !good;
      std::vector<Completion> done;
      for (int r = 0; r < 2; ++r) {
        auto run = job.executor(r).enqueue(job.program().entries[0], in[r], out[r]);
        if (run.ok()) done.push_back(*run);  // the other rank may have stopped this rank already
      }
      for (const Completion& c : done) (void)c.wait_for(std::chrono::milliseconds(5));
      g_failing = false;
      for (const Completion& c : done) {
        const Code code = c.wait().code();
        EXPECT_TRUE(good ? code == Code::kOk
                         : code == Code::kOutOfRange || code == Code::kAborted ||
                               code == Code::kResourceExhausted)
            << static_cast<int>(code);
      }
      if (!good) {
        job.executor(0).abort();
        job.executor(1).abort();
        job.reset();
      }
    }
  }
  t_spared = false;
}

TEST(Allocation, IsCounted) {
  g_allocations = 0;
  g_counting = true;
  std::vector<int>* volatile v = new std::vector<int>(100);
  g_counting = false;
  delete v;
  EXPECT_EQ(g_allocations, 2);
}

}  // namespace
}  // namespace shw::runtime
