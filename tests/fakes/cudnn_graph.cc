// The graphs of a fake libcudnn. Nodes keep the attributes that they are given. When the stream
// reaches a plan, its operations run one after another on whole tensors. The fake checks that nodes
// are complete and finished before they are used, that an operand is computed before it is read,
// that memory is aligned, and that the workspace is large enough. The first kernel that it proposes
// has no plan, which cuDNN permits, too.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "fakes/cudnn_handle.h"
#include "fakes/element.h"
#include "fakes/inject.h"
#include "runtime/cuda/plugin/cudnn.h"

using namespace shw::fakes;
using namespace shw::runtime::cuda;
using shw::Dtype;
using shw::Status;

namespace {

constexpr CudnnError kBadParameter = 2000, kNotSupported = 3000;
constexpr int64_t kWorkspace = 512;
constexpr int kProposals = 2;
using Sizes = std::array<int64_t, 4>;

size_t bytes_of(CudnnAttributeType type) {
  switch (type) {
    case kCudnnHandles:
    case kCudnnPointers:
    case kCudnnNodes:
    case kCudnnInts:
      return 8;
    case kCudnnBools:
      return 1;
    default:
      return sizeof(int);  // enumerations
  }
}

struct Node : Counted {
  explicit Node(CudnnKind of) : kind(of) {}
  CudnnKind kind;
  bool is_finished = false;
  std::map<CudnnAttribute, std::string> attributes;
  int64_t proposal = 0;  // for an engine configuration: which proposal it is

  template <class T>
  std::vector<T> all(CudnnAttribute which) const {
    const auto found = attributes.find(which);
    if (found == attributes.end()) return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  T one(CudnnAttribute which) const {
    const auto found = attributes.find(which);
    T value{};
    if (found != attributes.end() && found->second.size() == sizeof(T))
      std::memcpy(&value, found->second.data(), sizeof(T));
    return value;
  }
  const Node* node(CudnnAttribute which) const { return one<const Node*>(which); }
  bool has(std::initializer_list<CudnnAttribute> needed) const {
    return std::ranges::all_of(needed, [&](CudnnAttribute a) { return attributes.contains(a); });
  }
};

// The description of a tensor without its node. A command on a stream outlives the node.
struct Tensor {
  int64_t id;
  CudnnType type;
  Sizes sizes, strides;
  bool is_virtual, is_number;

  explicit Tensor(const Node& n)
      : id(n.one<int64_t>(kTensorId)),
        type(n.one<CudnnType>(kTensorType)),
        is_virtual(n.one<bool>(kTensorIsVirtual)),
        is_number(n.one<bool>(kTensorIsByValue)) {
    std::ranges::copy(n.all<int64_t>(kTensorSizes), sizes.begin());
    std::ranges::copy(n.all<int64_t>(kTensorStrides), strides.begin());
  }
  int64_t numel() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
};

Sizes place_of(int64_t i, const Sizes& sizes) {
  Sizes at{};
  for (size_t d = 4; d-- > 0; i /= sizes[d]) at[d] = i % sizes[d];
  return at;
}
// The index of the element that is used for position `at` of a larger tensor. A dim of size 1 is
// broadcast, and one key head serves a group of query heads.
int64_t serving(const Sizes& at, const Sizes& larger, const Sizes& sizes) {
  int64_t i = 0;
  for (size_t d = 0; d < 4; ++d) i = i * sizes[d] + at[d] * sizes[d] / larger[d];
  return i;
}

double rounded(double x, CudnnType type) {
  if (type == kCudnnI32 || type == kCudnnBool) return std::trunc(x);
  const Dtype dtype = type == kCudnnF16    ? Dtype::kF16
                      : type == kCudnnBF16 ? Dtype::kBF16
                                           : Dtype::kF32;
  double bits = 0;
  set_element(&bits, 0, dtype, x);
  return element(&bits, 0, dtype).real();
}

struct Operation {
  CudnnKind kind;
  int mode = 0;
  int64_t axis = 0;
  std::vector<Tensor> from;
  Tensor to;
};

double pointwise(int mode, double x, double b, double t) {
  switch (mode) {
    case kCudnnAdd:
      return x + b;
    case kCudnnSub:
      return x - b;
    case kCudnnMul:
      return x * b;
    case kCudnnDiv:
      return x / b;
    case kCudnnExp:
      return std::exp(x);
    case kCudnnLog:
      return std::log(x);
    case kCudnnGreaterOrEqual:
      return x >= b ? 1 : 0;
    case kCudnnSelect:
      return t != 0 ? x : b;
    default:
      return x;
  }
}

// One run of a plan: its operations and the memory of its tensors.
struct Run {
  std::vector<Operation> operations;
  std::map<int64_t, void*> memory;
  std::map<int64_t, double> numbers;
  void* workspace;
  std::map<int64_t, std::vector<double>> values = {};  // of tensors that have been computed or read

  using Elements = std::vector<double>;

  static Dtype dtype_of(CudnnType type) {
    return type == kCudnnF16 ? Dtype::kF16 : type == kCudnnBF16 ? Dtype::kBF16 : Dtype::kF32;
  }
  static int64_t place(const Sizes& at, const Sizes& strides) {
    int64_t place = 0;
    for (size_t d = 0; d < 4; ++d) place += at[d] * strides[d];
    return place;
  }

  shw::Result<const Elements*> read(FakeDevice& device, const Tensor& t) {
    Elements& all = values[t.id];
    if (t.is_number) all = {numbers.at(t.id)};
    if (!all.empty()) return &all;
    if (t.is_virtual) return shw::internal_error("a graph reads what no operation made");
    SHW_ASSIGN_OR_RETURN(void* base, device.context.memory.for_kernels(memory.at(t.id)));
    for (int64_t i = 0; i < t.numel(); ++i)
      all.push_back(element(base, place(place_of(i, t.sizes), t.strides), dtype_of(t.type)).real());
    return &all;
  }
  Status write(FakeDevice& device, const Tensor& t, Elements elements) {
    for (double& x : elements) x = rounded(x, t.type);
    if (!t.is_virtual) {
      SHW_ASSIGN_OR_RETURN(void* base, device.context.memory.for_kernels(memory.at(t.id)));
      for (int64_t i = 0; i < t.numel(); ++i)
        set_element(base, place(place_of(i, t.sizes), t.strides), dtype_of(t.type),
                    elements[static_cast<size_t>(i)]);
    }
    values[t.id] = std::move(elements);
    return {};
  }

  static Elements multiply(const Operation& o, const Elements& a, const Elements& b) {
    const Sizes &as = o.from[0].sizes, &bs = o.from[1].sizes;
    Elements c(static_cast<size_t>(o.to.numel()));
    for (size_t i = 0; i < c.size(); ++i) {
      const Sizes at = place_of(static_cast<int64_t>(i), o.to.sizes);
      const auto line = [&](const Sizes& sizes) {
        return (at[0] * sizes[0] / o.to.sizes[0]) * sizes[1] + at[1] * sizes[1] / o.to.sizes[1];
      };
      const double* row = &a[static_cast<size_t>((line(as) * as[2] + at[2]) * as[3])];
      const double* column = &b[static_cast<size_t>(line(bs) * bs[2] * bs[3] + at[3])];
      for (int64_t k = 0; k < as[3]; ++k) c[i] += row[k] * column[k * bs[3]];
    }
    return c;
  }
  static Elements reduce(const Operation& o, const Elements& from) {
    const bool adds = o.mode == kCudnnSum;
    Elements to(static_cast<size_t>(o.to.numel()),
                adds ? 0 : -std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < from.size(); ++i) {
      const Sizes& sizes = o.from[0].sizes;
      double& x = to[static_cast<size_t>(
          serving(place_of(static_cast<int64_t>(i), sizes), sizes, o.to.sizes))];
      x = adds ? x + from[i] : std::max(x, from[i]);
    }
    return to;
  }
  // Of the same elements: their place in memory stays, if they lay there.
  static Elements swap_rows(const Operation& o, const Elements& from) {
    Elements to(from.size());
    for (size_t i = 0; i < to.size(); ++i) {
      const Sizes at = place_of(static_cast<int64_t>(i), o.to.sizes);
      to[i] = from[static_cast<size_t>(
          serving({at[0], at[1], at[3], at[2]}, o.from[0].sizes, o.from[0].sizes))];
    }
    return to;
  }
  static Elements each(const Operation& o, const std::vector<const Elements*>& from) {
    Elements to(static_cast<size_t>(o.to.numel()));
    for (size_t i = 0; i < to.size(); ++i) {
      const Sizes at = place_of(static_cast<int64_t>(i), o.to.sizes);
      if (o.mode == kCudnnIndex) {
        to[i] = static_cast<double>(at[static_cast<size_t>(o.axis)]);
        continue;
      }
      double x[3] = {};
      for (size_t k = 0; k < from.size(); ++k)
        x[k] = (*from[k])[static_cast<size_t>(serving(at, o.to.sizes, o.from[k].sizes))];
      to[i] = pointwise(o.mode, x[0], x[1], x[2]);
    }
    return to;
  }

  Status run(FakeDevice& device) {
    SHW_ASSIGN_OR_RETURN(void* scratch, device.context.memory.for_kernels(workspace));
    std::memset(scratch, 0xa5, kWorkspace);
    for (const Operation& o : operations) {
      std::vector<const Elements*> from;
      for (const Tensor& t : o.from) {
        SHW_ASSIGN_OR_RETURN(const Elements* read_, read(device, t));
        from.push_back(read_);
      }
      SHW_RETURN_IF_ERROR(write(device, o.to,
                                o.kind == kCudnnDoMatmul      ? multiply(o, *from[0], *from[1])
                                : o.kind == kCudnnDoReduction ? reduce(o, *from[0])
                                : o.kind == kCudnnDoReshape   ? swap_rows(o, *from[0])
                                                              : each(o, from)));
    }
    return {};
  }
};

Operation operation(const Node& n) {
  const auto tensors = [&](std::initializer_list<CudnnAttribute> which) {
    std::vector<Tensor> all;
    for (CudnnAttribute a : which)
      if (n.has({a})) all.emplace_back(*n.node(a));
    return all;
  };
  switch (n.kind) {
    case kCudnnDoMatmul:
      return {.kind = n.kind,
              .from = tensors({kDoMatmulA, kDoMatmulB}),
              .to = Tensor(*n.node(kDoMatmulC))};
    case kCudnnDoReduction:
      return {.kind = n.kind,
              .mode = n.node(kDoReductionWhat)->one<int>(kReductionMode),
              .from = tensors({kDoReductionX}),
              .to = Tensor(*n.node(kDoReductionY))};
    case kCudnnDoReshape:
      return {.kind = n.kind, .from = tensors({kDoReshapeX}), .to = Tensor(*n.node(kDoReshapeY))};
    default:
      return {.kind = n.kind,
              .mode = n.node(kDoPointwiseWhat)->one<int>(kPointwiseMode),
              .axis = n.node(kDoPointwiseWhat)->one<int64_t>(kPointwiseAxis),
              .from = tensors({kDoPointwiseX, kDoPointwiseB, kDoPointwiseT}),
              .to = Tensor(*n.node(kDoPointwiseY))};
  }
}

// What a node of each kind must have when it is finished.
bool is_whole(const Node& n) {
  switch (n.kind) {
    case kCudnnTensor:
      return n.has({kTensorType, kTensorAlignment, kTensorId}) &&
             n.all<int64_t>(kTensorSizes).size() == 4 && n.all<int64_t>(kTensorStrides).size() == 4;
    case kCudnnPointwise:
      return n.has({kPointwiseMode, kPointwiseCompute});
    case kCudnnMatmul:
      return n.has({kMatmulCompute});
    case kCudnnReduction:
      return n.has({kReductionMode, kReductionCompute});
    case kCudnnDoPointwise:
      return n.has({kDoPointwiseWhat, kDoPointwiseX, kDoPointwiseY});
    case kCudnnDoMatmul:
      return n.has({kDoMatmulWhat, kDoMatmulA, kDoMatmulB, kDoMatmulC});
    case kCudnnDoReduction:
      return n.has({kDoReductionWhat, kDoReductionX, kDoReductionY});
    case kCudnnDoReshape:
      return n.has({kDoReshapeX, kDoReshapeY});
    case kCudnnOperations:
      return n.has({kOperationsAll, kOperationsHandle});
    case kCudnnHeuristic:
      return n.has({kHeuristicOperations, kHeuristicMode});
    case kCudnnPlan:
      return n.has({kPlanHandle, kPlanConfig});
    case kCudnnPack:
      return n.has({kPackIds, kPackPointers, kPackWorkspace});
    default:
      return false;
  }
}

// The sizes that an operation's tensors must have.
bool fits(const Operation& o) {
  const Sizes& to = o.to.sizes;
  const auto serves = [](const Sizes& small, const Sizes& large) {
    for (size_t d = 0; d < 4; ++d)
      if (small[d] == 0 || large[d] % small[d] != 0) return false;
    return true;
  };
  if (o.kind == kCudnnDoMatmul) {
    const Sizes &a = o.from[0].sizes, &b = o.from[1].sizes;
    return a[3] == b[2] && a[2] == to[2] && b[3] == to[3] && serves({a[0], a[1], 1, 1}, to) &&
           serves({b[0], b[1], 1, 1}, to);
  }
  if (o.kind == kCudnnDoReduction) return serves(to, o.from[0].sizes);
  if (o.kind == kCudnnDoReshape) {
    Sizes from = o.from[0].sizes;
    std::swap(from[2], from[3]);
    return from == to;
  }
  return std::ranges::all_of(o.from, [&](const Tensor& t) { return serves(t.sizes, to); });
}

CudnnError enqueue(CudnnHandle handle, const Node& plan, const Node& pack) {
  if (handle->stream == nullptr || plan.kind != kCudnnPlan || !plan.is_finished ||
      pack.kind != kCudnnPack || !pack.is_finished)
    return kBadParameter;
  const auto ids = pack.all<int64_t>(kPackIds);
  const auto pointers = pack.all<void*>(kPackPointers);
  if (ids.size() != pointers.size()) return kBadParameter;
  Run run{
      .operations = {}, .memory = {}, .numbers = {}, .workspace = pack.one<void*>(kPackWorkspace)};
  for (size_t i = 0; i < ids.size(); ++i) run.memory[ids[i]] = pointers[i];
  const Node& operations = *plan.node(kPlanConfig)->node(kHeuristicOperations);
  for (const Node* n : operations.all<const Node*>(kOperationsAll)) {
    run.operations.push_back(operation(*n));
    std::vector<Tensor> tensors = run.operations.back().from;
    tensors.push_back(run.operations.back().to);
    for (const Tensor& t : tensors) {
      if (t.is_virtual) continue;
      if (!run.memory.contains(t.id)) return kBadParameter;
      void* const at = run.memory[t.id];
      if (t.is_number)
        run.numbers[t.id] = static_cast<double>(*static_cast<const float*>(at));
      else if (at == nullptr || reinterpret_cast<uintptr_t>(at) % 16 != 0)
        return kBadParameter;
    }
  }
  handle->stream->queue->push({[=, device = handle->stream->device](const auto&) {
    Run one = run;
    if (Status s = one.run(*device); !s.ok()) device->context.lose(std::move(s));
  }});
  return 0;
}

Node& node_of(CudnnNode node) { return *static_cast<Node*>(node); }

}  // namespace

#define FAKE SHW_FAKE_API CudnnError
FAKE cudnnBackendCreateDescriptor(CudnnKind kind, CudnnNode* made) {
  if (const int code = injected("cudnnBackendCreateDescriptor"); code != 0) return code;
  *made = new Node(kind);
  return 0;
}
FAKE cudnnBackendDestroyDescriptor(CudnnNode node) {
  delete static_cast<Node*>(node);
  return 0;
}
FAKE cudnnBackendSetAttribute(CudnnNode node, CudnnAttribute attribute, CudnnAttributeType type,
                              int64_t count, const void* values) {
  if (const int code = injected("cudnnBackendSetAttribute"); code != 0) return code;
  Node& n = node_of(node);
  if (n.is_finished || count < 1) return kBadParameter;
  if (type == kCudnnNodes)
    for (int64_t i = 0; i < count; ++i)
      if (const Node* other = static_cast<const Node* const*>(values)[i];
          other == nullptr || !other->is_finished)
        return kBadParameter;
  n.attributes[attribute].assign(static_cast<const char*>(values),
                                 static_cast<size_t>(count) * bytes_of(type));
  return 0;
}
FAKE cudnnBackendFinalize(CudnnNode node) {
  if (const int code = injected("cudnnBackendFinalize"); code != 0) return code;
  Node& n = node_of(node);
  if (n.is_finished || !is_whole(n)) return kBadParameter;
  if (n.kind == kCudnnOperations)
    for (const Node* o : n.all<const Node*>(kOperationsAll))
      if (!fits(operation(*o))) return kNotSupported;
  if (n.kind == kCudnnPlan && n.node(kPlanConfig)->proposal == 0) return kNotSupported;
  n.is_finished = true;
  return 0;
}
FAKE cudnnBackendGetAttribute(CudnnNode node, CudnnAttribute attribute, CudnnAttributeType,
                              int64_t wanted, int64_t* count, void* values) {
  if (const int code = injected("cudnnBackendGetAttribute"); code != 0) return code;
  const Node& n = node_of(node);
  if (!n.is_finished) return kBadParameter;
  if (n.kind == kCudnnPlan && attribute == kPlanWorkspace) {
    *count = 1;
    *static_cast<int64_t*>(values) = kWorkspace;
    return 0;
  }
  if (n.kind != kCudnnHeuristic || attribute != kHeuristicResults) return kBadParameter;
  *count = std::min<int64_t>(wanted, kProposals);
  for (int64_t i = 0; i < *count; ++i) {
    Node& config = node_of(static_cast<CudnnNode*>(values)[i]);
    config.proposal = i;
    config.attributes[kHeuristicOperations] = n.attributes.at(kHeuristicOperations);
    config.is_finished = true;
  }
  return 0;
}
FAKE cudnnBackendExecute(CudnnHandle handle, CudnnNode plan, CudnnNode pack) {
  if (const int code = injected("cudnnBackendExecute"); code != 0) return code;
  return enqueue(handle, node_of(plan), node_of(pack));
}
