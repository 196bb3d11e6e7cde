#include "runtime/cuda/plugin/cudnn_graph.h"

#include <algorithm>
#include <utility>

namespace shw::runtime::cuda {
namespace {

constexpr int64_t kTensorBytes = 16;  // alignment of all tensors in memory
constexpr size_t kMostEngines = 8;

// The id of a tensor. Ids start at 1; 0 means none.
int64_t id_of(size_t tensor) { return static_cast<int64_t>(tensor) + 1; }

}  // namespace

GraphTensor GraphTensor::packed(CudnnType type, const std::array<int64_t, 4>& sizes) {
  GraphTensor t{type, sizes, {}};
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) t.strides[d] = stride;
  return t;
}

GraphTensor GraphTensor::transposed() const {
  GraphTensor t = *this;
  std::swap(t.sizes[2], t.sizes[3]);
  std::swap(t.strides[2], t.strides[3]);
  return t;
}

CudnnGraph::~CudnnGraph() {
  for (size_t i = nodes_.size(); i-- > 0;) (void)api_.destroy_node(nodes_[i]);
}

void CudnnGraph::note(CudnnError error, const char* what) {
  if (status_.ok()) status_ = api_.check(error, what);
}

CudnnNode CudnnGraph::make(CudnnKind kind) {
  CudnnNode node = nullptr;
  if (status_.ok()) note(api_.create_node(kind, &node), "making a node of a graph");
  if (status_.ok()) nodes_.push_back(node);
  return node;
}

template <class T>
void CudnnGraph::set(CudnnNode node, CudnnAttribute attribute, CudnnAttributeType type,
                     std::span<const T> values) {
  if (status_.ok())
    note(api_.set(node, attribute, type, static_cast<int64_t>(values.size()), values.data()),
         "describing a node of a graph");
}

void CudnnGraph::close(CudnnNode node) {
  if (status_.ok()) note(api_.finish_node(node), "finishing a node of a graph");
}

CudnnGraph::Value CudnnGraph::tensor(const GraphTensor& type, Where where) {
  const Value made = tensors_.size();
  CudnnNode node = make(kCudnnTensor);
  set_one(node, kTensorType, kCudnnTypes, type.type);
  set<int64_t>(node, kTensorSizes, kCudnnInts, type.sizes);
  set<int64_t>(node, kTensorStrides, kCudnnInts, type.strides);
  set_one(node, kTensorAlignment, kCudnnInts, kTensorBytes);
  set_one(node, kTensorId, kCudnnInts, id_of(made));
  set_one(node, kTensorIsVirtual, kCudnnBools, where == Where::kBetween);
  set_one(node, kTensorIsByValue, kCudnnBools, where == Where::kNumber);
  close(node);
  tensors_.push_back(node);
  return made;
}

CudnnGraph::Value CudnnGraph::in_memory(const GraphTensor& type) {
  const Value made = tensor(type, Where::kMemory);
  in_memory_.push_back(id_of(made));
  return made;
}
CudnnGraph::Value CudnnGraph::between(const GraphTensor& type) {
  return tensor(type, Where::kBetween);
}
CudnnGraph::Value CudnnGraph::number(float x) {
  const Value made = tensor(GraphTensor::packed(kCudnnF32, {1, 1, 1, 1}), Where::kNumber);
  numbers_.emplace_back(id_of(made), x);
  return made;
}

// Describes what an operation computes, and in which type.
CudnnNode CudnnGraph::computation(CudnnKind kind, CudnnAttribute attribute, CudnnType type) {
  CudnnNode what = make(kind);
  set_one(what, attribute, kCudnnTypes, type);
  return what;
}

void CudnnGraph::matmul(Value a, Value b, Value to) {
  CudnnNode what = computation(kCudnnMatmul, kMatmulCompute, kCudnnF32);
  close(what);
  CudnnNode node = make(kCudnnDoMatmul);
  set_one(node, kDoMatmulWhat, kCudnnNodes, what);
  set_tensor(node, kDoMatmulA, a);
  set_tensor(node, kDoMatmulB, b);
  set_tensor(node, kDoMatmulC, to);
  close(node);
  operations_.push_back(node);
}

void CudnnGraph::add_pointwise(CudnnNode what, std::span<const Value> operands, Value to) {
  constexpr CudnnAttribute kOperands[] = {kDoPointwiseX, kDoPointwiseB, kDoPointwiseT};
  close(what);
  CudnnNode node = make(kCudnnDoPointwise);
  set_one(node, kDoPointwiseWhat, kCudnnNodes, what);
  for (size_t i = 0; i < operands.size(); ++i) set_tensor(node, kOperands[i], operands[i]);
  set_tensor(node, kDoPointwiseY, to);
  close(node);
  operations_.push_back(node);
}

void CudnnGraph::pointwise(CudnnPointwiseMode mode, std::initializer_list<Value> operands,
                           Value to) {
  const bool compares = mode == kCudnnGreaterOrEqual;
  CudnnNode what =
      computation(kCudnnPointwise, kPointwiseCompute, compares ? kCudnnBool : kCudnnF32);
  set_one(what, kPointwiseMode, kCudnnPointwiseModes, mode);
  add_pointwise(what, {operands.begin(), operands.size()}, to);
}

void CudnnGraph::positions(Value like, int64_t dim, Value to) {
  CudnnNode what = computation(kCudnnPointwise, kPointwiseCompute, kCudnnF32);
  set_one(what, kPointwiseMode, kCudnnPointwiseModes, kCudnnIndex);
  set_one(what, kPointwiseAxis, kCudnnInts, dim);
  add_pointwise(what, {&like, 1}, to);
}

void CudnnGraph::reduce(CudnnReductionMode mode, Value from, Value to) {
  CudnnNode what = computation(kCudnnReduction, kReductionCompute, kCudnnF32);
  set_one(what, kReductionMode, kCudnnReductionModes, mode);
  close(what);
  CudnnNode node = make(kCudnnDoReduction);
  set_one(node, kDoReductionWhat, kCudnnNodes, what);
  set_tensor(node, kDoReductionX, from);
  set_tensor(node, kDoReductionY, to);
  close(node);
  operations_.push_back(node);
}

void CudnnGraph::reshape(Value from, Value to) {
  CudnnNode node = make(kCudnnDoReshape);
  set_tensor(node, kDoReshapeX, from);
  set_tensor(node, kDoReshapeY, to);
  close(node);
  operations_.push_back(node);
}

// The kernels that cuDNN proposes, fastest first according to its model.
std::vector<CudnnNode> CudnnGraph::proposals(CudnnNode operations) {
  CudnnNode heuristic = make(kCudnnHeuristic);
  set_one(heuristic, kHeuristicOperations, kCudnnNodes, operations);
  set_one(heuristic, kHeuristicMode, kCudnnHeuristicModes, kCudnnByModel);
  close(heuristic);
  std::vector<CudnnNode> configs;
  while (status_.ok() && configs.size() < kMostEngines) configs.push_back(make(kCudnnEngineConfig));
  int64_t count = 0;
  if (status_.ok())
    note(api_.get(heuristic, kHeuristicResults, kCudnnNodes, static_cast<int64_t>(configs.size()),
                  &count, configs.data()),
         "asking for kernels");
  configs.resize(std::min(configs.size(), static_cast<size_t>(std::max<int64_t>(0, count))));
  return configs;
}

bool CudnnGraph::plan_by(CudnnNode config, CudnnHandle handle) {
  CudnnNode plan = make(kCudnnPlan);
  set_one(plan, kPlanHandle, kCudnnHandles, handle);
  set_one(plan, kPlanConfig, kCudnnNodes, config);
  int64_t count = 0;
  if (!status_.ok() || api_.finish_node(plan) != 0 ||
      api_.get(plan, kPlanWorkspace, kCudnnInts, 1, &count, &workspace_bytes_) != 0)
    return false;
  plan_ = plan;
  return true;
}

Status CudnnGraph::finish(CudnnHandle handle) {
  CudnnNode operations = make(kCudnnOperations);
  set<CudnnNode>(operations, kOperationsAll, kCudnnNodes, operations_);
  set_one(operations, kOperationsHandle, kCudnnHandles, handle);
  close(operations);
  for (CudnnNode config : proposals(operations))
    if (plan_by(config, handle)) return {};
  SHW_RETURN_IF_ERROR(status_);
  return unimplemented("cuDNN has no kernel for this graph");
}

Status CudnnGraph::run(CudnnHandle handle, std::span<void* const> memory, void* workspace) const {
  std::vector<int64_t> ids = in_memory_;
  std::vector<void*> pointers(memory.begin(), memory.end());
  // cuDNN only reads the numbers.
  for (const auto& [id, x] : numbers_) {
    ids.push_back(id);
    pointers.push_back(const_cast<float*>(&x));
  }
  CudnnNode pack = nullptr;
  SHW_RETURN_IF_ERROR(api_.check(api_.create_node(kCudnnPack, &pack), "naming a graph's memory"));
  const auto count = static_cast<int64_t>(ids.size());
  CudnnError error = api_.set(pack, kPackIds, kCudnnInts, count, ids.data());
  if (error == 0) error = api_.set(pack, kPackPointers, kCudnnPointers, count, pointers.data());
  if (error == 0) error = api_.set(pack, kPackWorkspace, kCudnnPointers, 1, &workspace);
  if (error == 0) error = api_.finish_node(pack);
  if (error == 0) error = api_.execute(handle, plan_, pack);
  (void)api_.destroy_node(pack);
  return api_.check(error, "running a graph");
}

}  // namespace shw::runtime::cuda
