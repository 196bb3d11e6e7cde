#include "runtime/cuda/plugin/attention_cudnn.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "runtime/cuda/plugin/context.h"

namespace shw::runtime::cuda {
namespace {

// Needed for masks by −∞, and for sums that cuDNN clears itself.
constexpr size_t kLeastGraphVersion = 91000;
// The minimum number of query-key pairs over all heads: with fewer, any kernel takes microseconds.
constexpr int64_t kLeastPairs = 1 << 18;
constexpr int64_t kLeastPositions = 64;  // minimum number of queries and of keys: a kernel's tile

bool is_worth_a_plan(const AttentionArguments& a) {
  return std::min(a.queries, a.keys) >= kLeastPositions &&
         a.batch * a.heads * a.queries * a.keys >= kLeastPairs;
}

// Appends everything that a graph depends on.
void append(std::vector<int64_t>& key, const HeadWindow& w) {
  key.push_back(w.dtype);
  key.insert(key.end(), w.stride, w.stride + 4);
}
std::vector<int64_t> key_of(const AttentionArguments& a) {
  std::vector<int64_t> key = {a.batch, a.heads,       a.key_heads, a.queries,
                              a.keys,  a.value_width, a.width,     a.right};
  key.push_back(std::bit_cast<int64_t>(a.scale));
  for (const HeadWindow* w : {&a.q, &a.k, &a.v, &a.out}) append(key, *w);
  return key;
}

using MakeGraph = std::function<std::unique_ptr<CudnnGraph>(const Cudnn&)>;

// Null: cuDNN has no such graph.
std::shared_ptr<const CudnnGraph> find_or_make(const Context& context, SharedCudnn& cudnn,
                                               const std::vector<int64_t>& key,
                                               const MakeGraph& make) {
  if (cudnn.api().version() < kLeastGraphVersion) return nullptr;
  const Current current(context);
  const SharedCudnn::Handle handle(cudnn);
  std::weak_ptr<const CudnnGraph>& kept = handle.graph(key);
  if (auto known = kept.lock()) return known;
  std::unique_ptr<CudnnGraph> made = make(cudnn.api());
  // If cuDNN refuses the graph, the kernels of this library are used.
  if (!made->finish(handle).ok()) return nullptr;
  std::shared_ptr<const CudnnGraph> graph = std::move(made);
  kept = graph;
  return graph;
}

void* writable(const void* p) { return const_cast<void*>(p); }

}  // namespace

std::unique_ptr<AttentionByCudnn> AttentionByCudnn::create(const Context& context,
                                                           const AttentionArguments& a,
                                                           bool has_lse) {
  if (!is_attention_graph(a) || !is_worth_a_plan(a)) return nullptr;
  SharedCudnn* const cudnn = context.cudnn();
  if (cudnn == nullptr) return nullptr;
  std::vector<int64_t> key = key_of(a);
  key.push_back(has_lse ? 1 : 0);
  auto graph = find_or_make(context, *cudnn, key,
                            [&](const Cudnn& api) { return attention_graph(api, a, has_lse); });
  if (graph == nullptr) return nullptr;
  return std::unique_ptr<AttentionByCudnn>(new AttentionByCudnn(context, *cudnn, std::move(graph)));
}

std::unique_ptr<AttentionByCudnn> AttentionByCudnn::create(const Context& context,
                                                           const AttentionBackwardArguments& p) {
  const AttentionArguments& a = p.forward;
  if (context.options().deterministic || !is_attention_graph(p) || !is_worth_a_plan(a))
    return nullptr;
  SharedCudnn* const cudnn = context.cudnn();
  if (cudnn == nullptr) return nullptr;
  std::vector<int64_t> key = key_of(a);
  for (const HeadWindow* w : {&p.grad, &p.dq, &p.dk, &p.dv}) append(key, *w);
  auto graph = find_or_make(context, *cudnn, key,
                            [&](const Cudnn& api) { return attention_gradient_graph(api, p); });
  if (graph == nullptr) return nullptr;
  std::unique_ptr<AttentionByCudnn> made(new AttentionByCudnn(context, *cudnn, std::move(graph)));
  const int64_t rows = a.batch * a.heads * a.queries;
  made->row_bytes_ = workspace_aligned(rows * int64_t{sizeof(float)});
  made->sum_bytes_ = workspace_aligned(rows * a.width * int64_t{sizeof(float)});
  return made;
}

int64_t AttentionByCudnn::workspace_bytes() const {
  return row_bytes_ + sum_bytes_ + graph_->workspace_bytes();
}

Status AttentionByCudnn::run(CudaStream& stream, std::span<void* const> memory,
                             void* workspace) const {
  const Current current(context_);
  const Cudnn& api = cudnn_.api();
  const SharedCudnn::Handle handle(cudnn_);
  SHW_RETURN_IF_ERROR(
      api.check(api.set_stream(handle, static_cast<StreamHandle>(stream.native())), "a stream"));
  return graph_->run(handle, memory, workspace);
}

Status AttentionByCudnn::run(CudaStream& stream, const AttentionBuffers& at,
                             void* workspace) const {
  std::vector<void*> memory = {writable(at.q), writable(at.k), writable(at.v), at.out};
  if (at.lse != nullptr) memory.push_back(at.lse);
  return run(stream, memory, workspace);
}

Status AttentionByCudnn::run(CudaStream& stream, const AttentionGradients& at,
                             void* workspace) const {
  auto* const rows = static_cast<std::byte*>(workspace);
  void* const memory[] = {writable(at.q),
                          writable(at.k),
                          writable(at.v),
                          writable(at.out),
                          writable(at.grad),
                          writable(at.lse),
                          at.dq,
                          at.dk,
                          at.dv,
                          rows,
                          rows + row_bytes_};
  return run(stream, memory, rows + row_bytes_ + sum_bytes_);
}

}  // namespace shw::runtime::cuda
