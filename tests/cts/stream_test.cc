// Streams: order, and what happens to them after an error.
#include <atomic>
#include <thread>

#include "cts/hal_test.h"
#include "graph/op_kind.h"
#include "ops/op_def.h"

namespace shw::cts {
namespace {

class StreamTest : public HalTest {};

TEST_P(StreamTest, WorkIsDoneInOrder) {
  std::vector<int> order;
  std::vector<std::unique_ptr<Work>> works;
  auto s = stream();
  for (int i = 0; i < 1000; ++i) {  // far more than the queue holds at once
    works.push_back(std::make_unique<Work>([&order, i] { order.push_back(i); }));
    s->host(*works.back(), nullptr);
  }
  s.reset();
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_P(StreamTest, EnqueueingDoesNotWaitForWork) {
  Gate gate;
  Work blocked([&] { gate.wait(); });
  auto s = stream();
  s->host(blocked, nullptr);
  s->flush();
  gate.open();  // reached only because host() and flush() returned
  EXPECT_TRUE(s->synchronize().ok());
}

TEST_P(StreamTest, SynchronizeWaitsForEverything) {
  std::atomic<int> done{0};
  Work slow([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++done;
  });
  auto s = stream();
  for (int i = 1; i <= 5; ++i) {
    s->host(slow, nullptr);
    EXPECT_TRUE(s->synchronize().ok());
    EXPECT_EQ(done, i);
  }
}

TEST_P(StreamTest, AnEventOrdersTwoStreams) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    int value = 0, seen = -1;
    Work write([&] { value = 42; });
    Work read([&] { seen = value; });
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
  Work increment([&] { ++value; });
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

TEST_P(StreamTest, AnErrorPoisonsAndTheStreamDrains) {
  Work fail([] { return Status(Code::kDataLoss, "spilled"); });
  Work nothing([] {});
  auto e = event(), last = event();
  auto s = stream(), other = stream();
  s->host(fail, nullptr);
  s->host(nothing, nullptr);
  s->record(*e);
  other->wait(*e);
  other->host(nothing, nullptr);
  other->record(*last);
  s->flush();
  other->flush();
  EXPECT_EQ(s->synchronize().code(), Code::kDataLoss);
  EXPECT_EQ(other->synchronize().code(), Code::kDataLoss) << "streams with one fault fail together";
  EXPECT_TRUE(e->query() && last->query()) << "events are reached all the same";
}

TEST_P(StreamTest, WorksAgainOnceTheFaultIsCleared) {
  int done = 0;
  Work fail([] { return Status(Code::kDataLoss, "spilled"); });
  Work count([&] { ++done; });
  auto s = stream();
  s->host(fail, nullptr);
  EXPECT_FALSE(s->synchronize().ok());
  fault_.clear();
  ASSERT_TRUE(s->status().ok());
  s->host(count, nullptr);
  EXPECT_TRUE(s->synchronize().ok());
  EXPECT_EQ(done, 1);
}

TEST_P(StreamTest, RaisingTheFaultLetsItsStreamsDrain) {
  Gate gate;
  Work blocked([&] { gate.wait(); });
  Fault other_fault;
  auto e = event();
  auto busy = std::move(*device_->create_stream({.fault = &other_fault}));
  busy->host(blocked, nullptr);
  busy->record(*e);
  busy->flush();
  auto s = stream();
  s->wait(*e);
  s->flush();
  std::thread([&] { fault_.raise(Status(Code::kCancelled, "enough")); }).join();
  // A backend with prompt_errors ends the wait now. Another one ends it when the other stream has
  // reached the event.
  if (can().prompt_errors) {
    EXPECT_EQ(s->synchronize().code(), Code::kCancelled);
  }
  gate.open();
  EXPECT_EQ(s->synchronize().code(), Code::kCancelled);
  EXPECT_TRUE(busy->synchronize().ok());
  EXPECT_TRUE(other_fault.status().ok());
}

TEST_P(StreamTest, TheFirstErrorStays) {
  fault_.raise(Status(Code::kDataLoss, "first"));
  fault_.raise(Status(Code::kInternal, "second"));
  EXPECT_EQ(fault_.status().message(), "first");
  fault_.clear();
  EXPECT_TRUE(fault_.status().ok());
}

// An event of an unknown backend.
class ForeignEvent final : public Event {
 public:
  ForeignEvent() : Event(kClass) {}
  bool query() const override { return false; }
  bool wait_for(std::chrono::nanoseconds) const override { return false; }
  Result<std::chrono::nanoseconds> time_since(const Event&) const override {
    return unimplemented("");
  }

 private:
  static constexpr runtime::DeviceClass kClass{"foreign", {}};
};

TEST_P(StreamTest, RefusesEventsOfAnotherBackend) {
  ForeignEvent foreign;
  auto s = stream();
  s->wait(foreign);
  EXPECT_EQ(s->synchronize().code(), Code::kInvalidArgument);
  fault_.clear();
  s->record(foreign);
  EXPECT_EQ(s->synchronize().code(), Code::kInvalidArgument);
  fault_.clear();
  auto mine = event(true);
  EXPECT_EQ(mine->time_since(foreign).status().code(), Code::kInvalidArgument);
}

TEST_P(StreamTest, WrapsAStreamOfTheCaller) {
  if (!can().native_streams) {
    int something = 0;
    EXPECT_EQ(device_->create_stream({.fault = &fault_, .native = &something}).status().code(),
              Code::kUnimplemented);
    return;
  }
  std::vector<int> order;
  Gate gate;
  Work first([&] {
    gate.wait();
    order.push_back(1);
  });
  Work second([&] { order.push_back(2); });
  auto theirs = stream();
  theirs->host(first, nullptr);
  auto ours = std::move(*device_->create_stream({.fault = &fault_, .native = theirs->native()}));
  ours->host(second, nullptr);
  ours->flush();
  gate.open();
  EXPECT_TRUE(ours->synchronize().ok());
  ours.reset();
  theirs->host(second, nullptr);  // the stream outlives its wrapper
  EXPECT_TRUE(theirs->synchronize().ok());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 2}));
}

TEST_P(StreamTest, EveryOpThatIsNotAViewHasAKernel) {
  for (uint16_t i = 0; i < static_cast<uint16_t>(OpKind::kCount); ++i) {
    const auto op = static_cast<OpKind>(i);
    const bool structural = op == OpKind::kInput || op == OpKind::kGetItem ||
                            op == OpKind::kAlias || op_def(op).is_view ||
                            op_def(op).opaque;  // the caller supplies the body
    EXPECT_TRUE(structural || device_->has_kernel(op_name(op))) << op_name(op);
  }
  EXPECT_TRUE(device_->has_kernel("local_slice"));
  EXPECT_FALSE(device_->has_kernel(""));
}

SHW_CTS(StreamTest);

}  // namespace
}  // namespace shw::cts
