// Graphs: the captured commands of streams, launched repeatedly.
#include "cts/hal_test.h"

namespace shw::cts {
namespace {

using runtime::Graph;

class GraphTest : public HalTest {
 protected:
  void SetUp() override {
    HalTest::SetUp();
    if (!can().graphs) {
      EXPECT_EQ(stream()->begin_capture().code(), Code::kUnimplemented);
      GTEST_SKIP() << "the backend captures no graphs, and says so";
    }
    const TensorType pair = row_major(Dtype::kF32, {2});
    const TensorType* types[] = {&pair};
    neg_ = std::move(*device_->prepare("neg", {types, types, attrs_, mesh_, 0}));
  }
  Attrs attrs_;
  Mesh mesh_ = *Mesh::parse("x=1");
  std::unique_ptr<runtime::PreparedKernel> neg_;
};

TEST_P(GraphTest, DoesNothingUntilItIsLaunched) {
  void *x = upload({1, 2}), *y = upload({0, 0});
  void* const buffers[] = {x, y, nullptr};
  auto s = stream();
  ASSERT_TRUE(s->begin_capture().ok());
  neg_->launch(*s, buffers);
  neg_->launch(*s, buffers);
  auto graph = s->end_capture();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(s->synchronize().ok());
  EXPECT_EQ(download(y, 2), (std::vector<float>{0, 0}));
  for (int i = 0; i < 3; ++i) {
    (*graph)->launch(*s);
    ASSERT_TRUE(s->synchronize().ok());
    EXPECT_EQ(download(y, 2), (std::vector<float>{-1, -2}));
    s->fill(y, std::byte{0}, 8);
  }
}

TEST_P(GraphTest, TakesThePointersOfALaterCapture) {
  void *x = upload({1, 2}), *y = upload({0, 0}), *x2 = upload({3, 4}), *y2 = upload({0, 0});
  void* buffers[] = {x, y, nullptr};
  auto s = stream();
  ASSERT_TRUE(s->begin_capture().ok());
  neg_->launch(*s, buffers);
  auto graph = std::move(*s->end_capture());
  buffers[0] = x2;
  buffers[1] = y2;
  graph->launch(*s);  // uses the pointers of the capture
  ASSERT_TRUE(s->synchronize().ok());
  EXPECT_EQ(download(y, 2), (std::vector<float>{-1, -2}));
  EXPECT_EQ(download(y2, 2), (std::vector<float>{0, 0}));
  ASSERT_TRUE(s->begin_capture().ok());
  neg_->launch(*s, buffers);
  graph = std::move(*s->end_capture(std::move(graph)));
  graph->launch(*s);
  ASSERT_TRUE(s->synchronize().ok());
  EXPECT_EQ(download(y2, 2), (std::vector<float>{-3, -4}));
  // A capture of different commands into the same graph.
  void* const back[] = {y2, y, nullptr};
  ASSERT_TRUE(s->begin_capture().ok());
  neg_->launch(*s, buffers);
  neg_->launch(*s, back);
  graph = std::move(*s->end_capture(std::move(graph)));
  graph->launch(*s);
  ASSERT_TRUE(s->synchronize().ok());
  EXPECT_EQ(download(y, 2), (std::vector<float>{3, 4}));
}

TEST_P(GraphTest, HoldsStreamsThatJoin) {
  void *x = upload({1, 2}), *y = upload({0, 0}), *z = upload({0, 0});
  void* const first[] = {x, y, nullptr};
  void* const second[] = {y, z, nullptr};
  auto a = stream(), b = stream();
  auto to = event(), back = event();
  ASSERT_TRUE(a->begin_capture().ok());
  neg_->launch(*a, first);
  a->record(*to);
  b->wait(*to);
  neg_->launch(*b, second);
  b->record(*back);
  a->wait(*back);
  auto graph = a->end_capture();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  (*graph)->launch(*a);
  ASSERT_TRUE(a->synchronize().ok());
  EXPECT_EQ(download(z, 2), (std::vector<float>{1, 2}));
  neg_->launch(*b, first);  // after the capture `b` is an ordinary stream again
  EXPECT_TRUE(b->synchronize().ok());
}

TEST_P(GraphTest, IsRefusedWhenAStreamDoesNotComeBack) {
  void *x = upload({1, 2}), *y = upload({0, 0});
  void* const buffers[] = {x, y, nullptr};
  auto a = stream(), b = stream();
  auto to = event();
  ASSERT_TRUE(a->begin_capture().ok());
  a->record(*to);
  b->wait(*to);
  neg_->launch(*b, buffers);
  EXPECT_EQ(a->end_capture().status().code(), Code::kFailedPrecondition);
  EXPECT_TRUE(a->synchronize().ok()) << "the stream works all the same";
}

TEST_P(GraphTest, IsRefusedAfterACallThatWaits) {
  auto a = stream();
  ASSERT_TRUE(a->begin_capture().ok());
  EXPECT_FALSE(a->synchronize().ok());
  EXPECT_EQ(a->end_capture().status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(a->end_capture().status().code(), Code::kFailedPrecondition) << "none was begun";
}

SHW_CTS(GraphTest);

}  // namespace
}  // namespace shw::cts
