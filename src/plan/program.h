// The per-rank program. Lowering creates it, passes improve it, plan bytes store it and the
// executor runs it.
//
// One program serves all ranks (SPMD): what differs between them – which block a rank owns, with
// which ranks it communicates – is stated in terms of mesh dims and resolved from the rank's
// coordinates when the program is loaded. Every rank's piece has the size of rank 0's; a smaller
// one is padded at its end.
//
// A value is a strided window into a storage; views are values that share a storage, not steps.
// Running the steps one after another in their order is valid. Each step runs on a stream, after
// the events it waits for, and may record one event.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sharding/layout.h"
#include "support/index.h"
#include "support/small_vec.h"
#include "tensor/attrs.h"
#include "tensor/symbols.h"
#include "tensor/tensor_type.h"

namespace shw {

using ValueId = Id<struct ValueTag>;
using StorageId = Id<struct StorageTag>;
using PortId = Id<struct PortTag>;

struct ProgramValue {
  TensorType type;  // of one rank's piece; strides in elements, 0 where expanded
  StorageId storage;
  int64_t offset_bytes = 0;  // of element 0 within the storage
};

// The lifetime and the owner of a storage's bytes.
enum class StorageKind : uint8_t {
  kArena = 1,     // scratch of one run, inside the one arena
  kInput = 2,     // the caller's, for one run; written only where an update is made in place
  kOutput = 3,    // the caller's, for one run
  kState = 4,     // the executor's, as long as it lives: parameters, optimizer state, caches
  kSession = 5,   // from one entry to those after it, in one session: saved activations
  kConstant = 6,  // the plan's own; read only
  kHost = 7,      // of one run, in host memory: only copies to and from scratch touch it
  kGroup = 8,  // scratch that only one group of fused steps touches. If the group runs in slices,
               // it holds one slice at a time; if its steps run one by one, it takes memory beside
               // the arena
  kInOutput = 9,      // scratch in the memory of an output before that output is written
  kHostSession = 10,  // as kSession, in host memory: only copies to and from scratch touch it
};
struct ProgramStorage {
  int64_t bytes = 0;
  StorageKind kind = StorageKind::kArena;
  uint32_t port = UINT32_MAX;  // input, output, state, constant, in output: index into
                               // Program::ports. Others: UINT32_MAX
  int64_t offset_bytes = -1;   // arena, session, host, group, in output, session in host memory:
                               // offset in it, a multiple of Program::alignment; -1 before the
                               // memory pass
  bool operator==(const ProgramStorage&) const = default;
};
// Whether the memory pass assigns offsets to such storages. The others are whole ports.
constexpr bool is_placed(StorageKind kind) {
  return kind == StorageKind::kArena || kind == StorageKind::kSession ||
         kind == StorageKind::kHost || kind == StorageKind::kGroup ||
         kind == StorageKind::kInOutput || kind == StorageKind::kHostSession;
}
// Whether such storages are in host memory, which only copies touch.
constexpr bool is_in_host(StorageKind kind) {
  return kind == StorageKind::kHost || kind == StorageKind::kHostSession;
}
// Whether such storages are in the session, so that later entries can read them.
constexpr bool is_in_session(StorageKind kind) {
  return kind == StorageKind::kSession || kind == StorageKind::kHostSession;
}
// Alignment of the arena, of a session's memory, and of the storages in them: the widest load of a
// GPU.
inline constexpr int64_t kArenaAlignment = 256;

enum class CollectiveKind : uint8_t {
  kNone = 0,
  kAllGather = 1,      // in: x, contiguous. out: [n, …x]: the members' x in group order
  kReduceScatter = 2,  // in: [n, …]. out: […]: member i gets the reduction of everyone's in[i]
  kAllReduce = 3,      // in: x. out: the reduction of everyone's x
  kAllToAll = 4,       // in: [n, …]. out: [n, …]: out[j] of member i is in[i] of member j
  kPermute = 5,        // in: x. out: the x of one other member, or its own; see Collective::to_axes
};

constexpr bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllReduce;
}

// A group: the ranks that differ only along `axes`, dims of the mesh or parts of them (Mesh),
// numbered lexicographically by their coordinates in the order of `axes` (outermost first). For
// [1,0] on a 2×4 mesh, rank (i,j) has member number 2j+i.
struct Collective {
  CollectiveKind kind = CollectiveKind::kNone;
  ReduceOp op = ReduceOp::kSum;
  std::vector<uint8_t> axes;
  // kPermute: the same mesh dims in another order. The member with number i in the order of
  // `to_axes` receives x of the member with number i in the order of `axes`. So one mesh dim takes
  // over a cut from another.
  std::vector<uint8_t> to_axes = {};
  bool operator==(const Collective&) const = default;
};

// The links that a group uses, named by its axes in ascending order. Groups that order the same
// axes differently, such as dp,tp and tp,dp, use the same links, so one waits for the other.
std::vector<uint8_t> links_of(std::vector<uint8_t> axes);
// The same as a bit mask of axes, the form that prices of collectives take as a parameter.
inline uint32_t mask_of(const std::vector<uint8_t>& axes) {
  uint32_t mask = 0;
  for (uint8_t axis : axes) mask |= 1u << axis;
  return mask;
}

// The kind of evidence for a price; same values as cost::Basis (cost/price_term.h).
enum class PriceBasis : uint8_t {
  kUnknown = 0,
  kMeasured = 1,
  kInterpolated = 2,
  kAnalytical = 3,
  kFallback = 4,
};
inline constexpr size_t kNumPriceBases = 5;

// A queue of steps that run in order, in parallel with other streams. Stream 0 computes. Each other
// stream runs the collectives of one set of links, so that links of different mesh dims can be busy
// at the same time, or the copies in one direction of the link to host memory.
enum class StreamKind : uint8_t { kCompute = 1, kCommunication = 2, kToHost = 3, kFromHost = 4 };
struct ProgramStream {
  StreamKind kind = StreamKind::kCompute;
  // Communication: links_of() its collectives; empty: several sets of links share it. Older plans
  // may have a stream for each order of the axes.
  std::vector<uint8_t> axes = {};
};
using StreamNumber = uint8_t;  // index into Program::streams
inline constexpr StreamNumber kComputeStream = 0;
inline constexpr size_t kMaxStreams = 32;  // each is a thread or a queue of the hardware

inline constexpr uint32_t kNoStep = UINT32_MAX;
inline constexpr uint32_t kNoEvent = UINT32_MAX;
inline constexpr uint32_t kNotInPlace = UINT32_MAX;

using ValueList = SmallVec<ValueId, 4>;
struct ProgramStep {
  std::string kernel;  // of the runtime: an op's name, "local_slice", or the collective's name; see
                       // runtime/cpu/README.md
  ValueList inputs;    // invalid: an optional operand that is absent
  ValueList outputs;   // invalid: a result that is not used
  Attrs attrs;
  Collective collective;  // kind kNone: a compute step
  StreamNumber stream = kComputeStream;
  SmallVec<uint32_t, 4> waits;  // events that must have been recorded
  uint32_t records = kNoEvent;  // event that becomes ready when the step is done
  uint32_t node = UINT32_MAX;   // of the caller's graph, before rewrites, that it computes
  uint8_t phase = 0;            // Phase
  double cost_us = 0;           // modelled
  // The input that result 0 overwrites; both are the same window. Allowed only in the memory of
  // state or of an input that is updated, and only if the kernel supports it (runtime:
  // Kernel::in_place).
  uint32_t in_place = kNotInPlace;
  PriceBasis basis = PriceBasis::kUnknown;  // of cost_us
  // Repeats a step of the forward pass for the backward pass (recompute/).
  bool recomputed = false;
};
// Whether the step is a matrix product or attention.
bool is_product(const ProgramStep& step);
bool is_copy(const ProgramStep& step);  // of a tensor, possibly with another order of dims
bool is_cast(const ProgramStep& step);  // a copy in another type
bool is_local_slice(const ProgramStep& step);

// local_slice copies this rank's block of a tensor that is replicated along the mesh dims in
// attrs.dims. attrs.dim: the tensor dim that is cut; attrs.dims: mesh dims or parts of them,
// outermost first. The result is contiguous.

// A step whose kernel must know where its piece lies in a whole tensor has two attributes in
// addition to those of the op: `size`, the whole tensor's shape, and `cuts`: mesh dim, tensor dim,
// mesh dim, tensor dim, … in the order in which they cut. The tensor is the result for rand, the
// table for embedding, and the table's gradient for embedding's backward.

enum class PortRole : uint8_t {
  kParameter = 1,  // inputs: as InputRole
  kBuffer = 2,
  kInput = 3,
  kTangent = 4,
  kSeed = 5,
  kOptimizerState = 6,
  kConstant = 7,
  kResult = 11,  // outputs
  kGradient = 12,
  kUpdate = 13,
};
constexpr bool is_input(PortRole role) { return role < PortRole::kResult; }
// Whether the model keeps the tensor from one run to the next, so that no run passes it in.
constexpr bool is_of_model(PortRole role) {
  return role == PortRole::kParameter || role == PortRole::kBuffer ||
         role == PortRole::kOptimizerState || role == PortRole::kConstant;
}

// A tensor with its own storage, which the caller passes in or receives, or the executor keeps.
// Entries share ports, and therefore layouts. An update in place uses the storage of the input that
// it updates.
struct Port {
  std::string name;  // "param.<fqn>", "input.0", "output", "grad.<fqn>"
  PortRole role = PortRole::kInput;
  TensorType global;               // the whole tensor; strides row-major
  Layout layout;                   // how the ranks hold it
  ValueId value;                   // invalid: an absent output (no gradient)
  std::vector<uint8_t> data = {};  // constant: elements of the whole tensor, row-major
  // The expressions of the sizes of `global`, one per dim; empty: they are fixed.
  Exprs sizes = {};
};

// Consecutive steps that run together, slice by slice: the result of one is still in the cache, or
// in registers, when the next reads it. Run one by one, they compute the same. They are on one
// stream; only the first waits for events, and only the last records one.
inline constexpr uint32_t kMostFusedSteps = 64;  // in a group
struct FusedGroup {
  uint32_t first_step = 0, num_steps = 0;
  Dims shape;   // iteration space of the loops: the shape of the largest operand of a step
  Dims slices;  // number of slices along its leading dims, outermost first (plan/slice.h)
  bool operator==(const FusedGroup&) const = default;
};

// An entry point: one way to run the program.
struct ProgramEntry {
  std::string name;                     // "step": forward and backward
  std::vector<PortId> inputs, outputs;  // in the caller's order; state and constants are not listed
  uint32_t first_step = 0, num_steps = 0;
  double weight = 1;            // its share in the objective
  std::vector<uint32_t> after;  // entries that must have run before it in the same session
  // If this entry is one of several sizes (buckets) of an entry of the graph: the name of that
  // entry, and the size of each symbol (-1: not used).
  std::string bucket_of = {};
  std::vector<int64_t> bucket = {};
};

struct Program {
  std::vector<Mesh::Axis> mesh;
  IndexVec<ValueId, ProgramValue> values;
  IndexVec<StorageId, ProgramStorage> storages;
  IndexVec<PortId, Port> ports;
  std::vector<ProgramStep> steps;
  std::vector<ProgramEntry> entries;
  std::vector<FusedGroup> fused_groups = {};  // ascending
  std::vector<Symbol> symbols;                // of the graph; buckets give their sizes
  std::vector<ProgramStream> streams = {ProgramStream{}};
  uint32_t num_events = 0;
  int64_t alignment = kArenaAlignment;
  // As PlanSummary::recompute_excess_us (recompute/frontier.h). Not part of the bytes; PlanSummary
  // has it.
  double recompute_excess_us = -1;
  int64_t arena_bytes = 0;         // after the memory pass
  int64_t session_bytes = 0;       // of one session, after the memory pass
  int64_t host_bytes = 0;          // of host memory, of one run, after the memory pass
  int64_t host_session_bytes = 0;  // of host memory, of one session, after the memory pass
  int64_t group_bytes = 0;         // of groups' storages, after the memory pass
  int64_t live_peak_bytes = 0;     // peak sum of live arena storages; a perfect packing needs this

  const Port& input(const ProgramEntry& e, size_t i) const { return ports[e.inputs[i]]; }
  const Port& output(const ProgramEntry& e, size_t i) const { return ports[e.outputs[i]]; }
  bool lies_in(ValueId value, StorageKind kind) const {
    return value.valid() && storages[values[value].storage].kind == kind;
  }
  bool lies_in(const Port& port, StorageKind kind) const { return lies_in(port.value, kind); }
  bool lies_in_host(ValueId value) const {
    return value.valid() && is_in_host(storages[values[value].storage].kind);
  }
};

// Resets the sizes to their values before the memory pass.
inline void forget_memory_sizes(Program& p) {
  p.arena_bytes = p.session_bytes = p.host_bytes = p.host_session_bytes = p.live_peak_bytes = 0;
}

// By step: the first and the last step of its group, or the step itself twice. The steps of a group
// run at once, so memory that one touches is in use during all of them.
struct StepSpan {
  uint32_t first = 0, last = 0;
};
std::vector<StepSpan> spans_of_steps(const Program& program);

// Removes all groups, so that steps run one by one. Storages of groups become arena scratch without
// an offset.
void drop_fused_groups(Program& program);

// A copy of scratch to host memory, or back. Such a step has one operand and one result.
enum class HostCopy : uint8_t { kNone = 0, kToHost = 1, kFromHost = 2 };
inline HostCopy host_copy(const Program& program, const ProgramStep& step) {
  const auto lies_there = [&](std::span<const ValueId> values) {
    return values.size() == 1 && program.lies_in_host(values[0]);
  };
  if (lies_there(step.outputs)) return HostCopy::kToHost;
  return lies_there(step.inputs) ? HostCopy::kFromHost : HostCopy::kNone;
}
// Name and size of an axis of a group, which is a mesh dim or a part of one.
Mesh::Axis axis_of(const Program& program, uint8_t axis);

// Whether the step runs on a link, in parallel with compute.
inline bool runs_on_link(const Program& program, const ProgramStep& step) {
  return step.collective.kind != CollectiveKind::kNone ||
         host_copy(program, step) != HostCopy::kNone;
}

// The stream for copies in one direction, and the stream for collectives of a group; each is added
// if missing. Call host_stream() first: once there are kMaxStreams streams, groups share the last
// one.
StreamNumber host_stream(Program& program, HostCopy direction);
StreamNumber communication_stream(Program& program, const std::vector<uint8_t>& axes);

// Checks everything that the executor assumes: indices in range, storages large enough for every
// window, operands defined before use, collectives' shapes, axes and order, events recorded before
// they are waited for, one writer per storage byte range that is live, inputs and state overwritten
// only by updates. With `planned`: arena and session windows lie inside their memory, and no two
// live ones overlap.
Status verify(const Program& program, bool planned);

// Text for people and golden tests.
std::string axes_text(const Program& program, const std::vector<uint8_t>& axes);  // "dp,tp"
// A step's kernel; for a collective, with its operation and its group: "all_reduce.sum[dp,tp]",
// "collective_permute[dp,tp -> tp,dp]".
std::string kernel_text(const Program& program, const ProgramStep& step);
// "[4,32,256] in [4,8] slices: add pow mean"
std::string fused_group_text(const Program& program, const FusedGroup& group);
int64_t num_ranks(const Program& program);
// Whether the value covers all of its storage, with its elements in order.
bool is_whole(const Program& program, ValueId value);
// The size in the arena, a session or host memory of a storage of `bytes`.
inline int64_t padded_bytes(const Program& program, int64_t bytes) {
  return (bytes + program.alignment - 1) / program.alignment * program.alignment;
}
// The bytes of a step's operands or results, without absent ones.
int64_t type_bytes(const Program& program, std::span<const ValueId> values);
// Scratch of one rank and one session. The storages of groups (`group_bytes`) need additional
// memory if the steps of groups run one by one: on a device without a kernel for them, or at the
// caller's request.
inline int64_t scratch_bytes(const Program& program) {
  return program.arena_bytes + program.session_bytes;
}
inline int64_t host_memory_bytes(const Program& program) {  // likewise
  return program.host_bytes + program.host_session_bytes;
}
// Whether the storage is a constant, or belongs to such a port.
bool is_of_model(const Program& program, StorageId storage);
std::string to_text(const Program& program);  // one line per step

}  // namespace shw
