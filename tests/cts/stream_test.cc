// Streams, events, memory: what hal.h promises of every backend.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "cts/backends.h"
#include "graph/op_kind.h"
#include "ops/op_def.h"
#include "runtime/hal.h"

namespace shw::cts {
namespace {

using runtime::AfterFault;
using runtime::Event;
using runtime::Fault;
using runtime::HostWork;
using runtime::Stream;

class Work final : public HostWork {
 public:
  explicit Work(std::function<Status()> f) : f_(std::move(f)) {}
  Status run(void* const*) noexcept override { return f_(); }

 private:
  std::function<Status()> f_;
};

// Opens once; whoever waits is freed.
class Gate {
 public:
  void open() {
    {
      std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

class StreamTest : public ::testing::TestWithParam<Backend> {
 protected:
  std::unique_ptr<Stream> stream(int64_t capacity = 64) {
    return std::move(*device_->create_stream(fault_, capacity));
  }
  std::unique_ptr<Event> event() { return std::move(*device_->create_event()); }

  std::shared_ptr<runtime::Device> device_ = GetParam().make();
  Fault fault_;
};

TEST_P(StreamTest, WorkIsDoneInOrder) {
  std::vector<int> order;
  std::vector<std::unique_ptr<Work>> works;
  auto s = stream();
  for (int i = 0; i < 1000; ++i) {  // far more than fit into the queue at once
    works.push_back(std::make_unique<Work>([&order, i] {
      order.push_back(i);
      return Status();
    }));
    s->host(*works.back(), nullptr);
  }
  s.reset();
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_P(StreamTest, EnqueueingDoesNotWaitForWork) {
  Gate gate;
  Work blocked([&] {
    gate.wait();
    return Status();
  });
  auto s = stream();
  s->host(blocked, nullptr);
  s->flush();
  gate.open();  // reached only because host() and flush() returned
  s.reset();
}

TEST_P(StreamTest, AnEventOrdersTwoStreams) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    int value = 0, seen = -1;
    Work write([&] {
      value = 42;
      return Status();
    });
    Work read([&] {
      seen = value;
      return Status();
    });
    auto e = event();
    auto first = stream(), second = stream();
    first->host(write, nullptr);
    first->record(*e);
    second->wait(*e);
    second->host(read, nullptr);
    second->flush();
    first->flush();
    second.reset();
    first.reset();
    EXPECT_EQ(seen, 42);
  }
}

TEST_P(StreamTest, StreamsPassWorkBackAndForth) {
  int value = 0;
  Work increment([&] {
    ++value;
    return Status();
  });
  auto to = event(), fro = event();
  auto a = stream(), b = stream();
  for (int i = 0; i < 500; ++i) {
    a->wait(*fro);
    a->host(increment, nullptr);
    a->record(*to);
    b->wait(*to);
    b->host(increment, nullptr);
    b->record(*fro);
    a->flush();
    b->flush();
  }
  a.reset();
  b.reset();
  EXPECT_EQ(value, 1000);
}

TEST_P(StreamTest, AnEventThatWasNeverRecordedHoldsNobody) {
  auto e = event();
  auto s = stream();
  s->wait(*e);
  s.reset();
}

TEST_P(StreamTest, AnErrorSkipsWhatFollows) {
  std::atomic<int> skipped{0}, done{0};
  Work fail([] { return Status(Code::kDataLoss, "spilled"); });
  Work count_skipped([&] {
    ++skipped;
    return Status();
  });
  Work count_done([&] {
    ++done;
    return Status();
  });
  auto e = event();
  auto s = stream();
  s->host(fail, nullptr);
  s->host(count_skipped, nullptr);
  s->host(count_done, nullptr, AfterFault::kRun);
  s->record(*e);
  auto other = stream();
  other->wait(*e, AfterFault::kRun);
  other->host(count_skipped, nullptr);
  s->flush();
  other.reset();
  s.reset();
  EXPECT_EQ(skipped, 0);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(fault_.status().code(), Code::kDataLoss);
}

TEST_P(StreamTest, RaisingTheFaultEndsAWait) {
  Gate gate;
  Work blocked([&] {
    gate.wait();
    return Status();
  });
  Fault other_fault;
  auto e = event();
  auto busy = std::move(*device_->create_stream(other_fault, 16));
  busy->host(blocked, nullptr);
  busy->record(*e);
  busy->flush();
  auto s = stream();
  s->wait(*e);
  s->flush();
  std::thread([&] { fault_.raise(Status(Code::kCancelled, "enough")); }).join();
  s.reset();  // returns although the event was not recorded
  gate.open();
  busy.reset();
  EXPECT_TRUE(other_fault.status().ok());
}

TEST_P(StreamTest, TheFirstErrorStays) {
  Work first([] { return Status(Code::kDataLoss, "first"); });
  Work second([] { return Status(Code::kInternal, "second"); });
  auto s = stream();
  s->host(first, nullptr);
  s->host(second, nullptr, AfterFault::kRun);
  s.reset();
  EXPECT_EQ(fault_.status().message(), "first");
  fault_.clear();
  EXPECT_TRUE(fault_.status().ok());
}

TEST_P(StreamTest, MemoryIsAlignedAndCopied) {
  for (int64_t bytes : {0, 1, 63, 64, 4097})
    for (int64_t alignment : {8, 64, 4096}) {
      auto memory = device_->allocate(bytes, alignment);
      ASSERT_TRUE(memory.ok());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory) % static_cast<uintptr_t>(alignment), 0u);
      std::vector<std::byte> in(static_cast<size_t>(bytes), std::byte{0x5a}), out(in.size());
      EXPECT_TRUE(device_->copy_from_host(*memory, in.data(), bytes).ok());
      EXPECT_TRUE(device_->copy_to_host(out.data(), *memory, bytes).ok());
      EXPECT_EQ(in, out);
      device_->free(*memory, bytes, alignment);
    }
}

TEST_P(StreamTest, ImpossibleMemoryIsAnError) {
  const auto memory = device_->allocate(int64_t{1} << 60, 64);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), Code::kResourceExhausted);
}

TEST_P(StreamTest, EveryOpThatIsNotAViewHasAKernel) {
  for (uint16_t i = 0; i < static_cast<uint16_t>(OpKind::kCount); ++i) {
    const auto op = static_cast<OpKind>(i);
    const bool structural = op == OpKind::kInput || op == OpKind::kGetItem ||
                            op == OpKind::kAlias || op_def(op).is_view ||
                            op_def(op).opaque;  // the caller brings the body
    EXPECT_TRUE(structural || device_->find_kernel(op_name(op)) != nullptr) << op_name(op);
  }
  EXPECT_NE(device_->find_kernel("local_slice"), nullptr);
  EXPECT_EQ(device_->find_kernel(""), nullptr);
}

SHW_CTS(StreamTest);

}  // namespace
}  // namespace shw::cts
