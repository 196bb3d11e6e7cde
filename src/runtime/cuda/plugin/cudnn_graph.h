// A graph of operations on four-dimensional tensors that cuDNN executes. cuDNN has kernels for
// graphs of certain forms only, and refuses others.
// Source: NVIDIA's documentation of cuDNN's backend (graph) API, version 9.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "runtime/cuda/plugin/cudnn.h"

namespace shw::runtime::cuda {

struct GraphTensor {
  CudnnType type = kCudnnF32;
  std::array<int64_t, 4> sizes{}, strides{};  // in elements

  static GraphTensor packed(CudnnType type, const std::array<int64_t, 4>& sizes);
  // The tensor with its last two dims swapped.
  GraphTensor transposed() const;
};

class CudnnGraph {
 public:
  using Value = size_t;  // a tensor's number

  explicit CudnnGraph(const Cudnn& api) : api_(api) {}
  ~CudnnGraph();
  CudnnGraph(const CudnnGraph&) = delete;
  CudnnGraph& operator=(const CudnnGraph&) = delete;

  // A tensor in memory. run() gets the addresses of these tensors in the order of declaration; each
  // is a multiple of 16 bytes.
  Value in_memory(const GraphTensor& type);
  // An intermediate tensor, which need not be stored in memory.
  Value between(const GraphTensor& type);
  Value number(float x);

  // Operands are broadcast in dims of size 1. Each head of a product's second operand serves an
  // equal number of heads of the first. finish() reports errors.
  void matmul(Value a, Value b, Value to);
  void pointwise(CudnnPointwiseMode mode, std::initializer_list<Value> operands, Value to);
  // Indices along a dim, with the shape of `like`.
  void positions(Value like, int64_t dim, Value to);
  // The sizes of `to` determine which dims are reduced.
  void reduce(CudnnReductionMode mode, Value from, Value to);
  void reshape(Value from, Value to);

  // Makes the plan for the handle's device. Nothing may be added afterwards.
  Status finish(CudnnHandle handle);
  int64_t workspace_bytes() const { return workspace_bytes_; }
  // Runs on the handle's stream.
  Status run(CudnnHandle handle, std::span<void* const> memory, void* workspace) const;

 private:
  // A node that is destroyed with the graph; null if it could not be made.
  CudnnNode make(CudnnKind kind);
  void note(CudnnError error, const char* what);
  template <class T>
  void set(CudnnNode node, CudnnAttribute attribute, CudnnAttributeType type,
           std::span<const T> values);
  template <class T>
  void set_one(CudnnNode node, CudnnAttribute attribute, CudnnAttributeType type, const T& value) {
    set<T>(node, attribute, type, {&value, 1});
  }
  void set_tensor(CudnnNode node, CudnnAttribute attribute, Value tensor) {
    set_one(node, attribute, kCudnnNodes, tensors_[tensor]);
  }
  void close(CudnnNode node);
  enum class Where { kMemory, kBetween, kNumber };
  Value tensor(const GraphTensor& type, Where where);
  CudnnNode computation(CudnnKind kind, CudnnAttribute attribute, CudnnType type);
  void add_pointwise(CudnnNode what, std::span<const Value> operands, Value to);
  std::vector<CudnnNode> proposals(CudnnNode operations);
  bool plan_by(CudnnNode config, CudnnHandle handle);

  const Cudnn& api_;
  Status status_;
  std::vector<CudnnNode> nodes_, tensors_, operations_;
  std::vector<int64_t> in_memory_;                  // ids
  std::vector<std::pair<int64_t, float>> numbers_;  // id and value
  CudnnNode plan_ = nullptr;
  int64_t workspace_bytes_ = 0;
};

}  // namespace shw::runtime::cuda
