// A fake libnccl that connects threads and processes of one host through a server (nccl_server.h).
// It has these properties of NCCL: A communicator is ready when all its ranks have asked for it. A
// collective completes when all ranks have reached it on their streams, in the order in which each
// rank issued its collectives. An abort ends only the rank that calls it, and waits for the graphs
// that hold the rank's collectives.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "fakes/driver.h"
#include "fakes/inject.h"
#include "fakes/nccl_member.h"
#include "plan/program.h"

using namespace shw::fakes;
using namespace shw::runtime::cuda;
using shw::Dtype;
using shw::Status;

// Functions of the fake driver, which is in the same library.
SHW_FAKE_API DriverError cuMemAlloc_v2(DevicePointer* memory, size_t bytes);
SHW_FAKE_API DriverError cuMemFree_v2(DevicePointer memory);

namespace {

constexpr NcclError kUnhandledCudaError = 1, kInternalError = 3, kInvalidArgument = 4;
constexpr int kVersion = 22809;

}  // namespace

struct ncclComm : Counted {
  explicit ncclComm(std::shared_ptr<Member> of) : member(std::move(of)) {}
  std::shared_ptr<Member> member;
};

namespace {

Dtype dtype_of(NcclType type) {
  switch (type) {
    case kNcclI8:
      return Dtype::kI8;
    case kNcclU8:
      return Dtype::kU8;
    case kNcclI32:
      return Dtype::kI32;
    case kNcclI64:
      return Dtype::kI64;
    case kNcclF16:
      return Dtype::kF16;
    case kNcclF32:
      return Dtype::kF32;
    case kNcclF64:
      return Dtype::kF64;
    case kNcclBF16:
      return Dtype::kBF16;
  }
  return Dtype::kU8;
}

shw::ReduceOp reduce_op(NcclOperation operation) {
  switch (operation) {
    case kNcclMax:
      return shw::ReduceOp::kMax;
    case kNcclMin:
      return shw::ReduceOp::kMin;
    case kNcclAverage:
      return shw::ReduceOp::kAvg;
    case kNcclProduct:
      return shw::ReduceOp::kProduct;
    default:
      return shw::ReduceOp::kSum;
  }
}

bool is_ready(ncclComm* communicator) { return communicator->member->state() == kNcclSuccess; }

// Executes a collective when its stream reaches it.
using Work = std::function<Status(const shw::strict::Memory&)>;

// Enqueues a collective on the stream. Its turn on the communicator is taken where it is issued: in
// this call, or at each launch of the graph into which the stream is being captured.
void push(const std::shared_ptr<Member>& member, StreamHandle stream,
          std::function<Work(uint64_t turn)> make) {
  const auto issue = [member, make, device = stream->device] {
    return [member, device, work = make(member->issue())](const auto&) {
      if (member->is_aborted()) return;
      if (Status s = work(device->context.memory); !s.ok()) device->context.lose(std::move(s));
    };
  };
  if (!stream->queue->is_capturing()) return stream->queue->push({issue()});
  shw::strict::Command captured;
  captured.at_launch = [issue, member, device = stream->device,
                        held = Member::held_by_graph(member)] {
    if (member->is_aborted())
      device->context.lose(
          shw::internal_error("a graph was launched whose communicator has been aborted"));
    return issue();
  };
  stream->queue->push(std::move(captured));
}

// Whether the calling thread captures a stream. If so, `call`, which changes communicators,
// invalidates the capture.
bool breaks_capture(const char* call) {
  shw::strict::Capture* const capture = shw::strict::this_thread().capture;
  if (capture != nullptr) capture->broken = std::string(call) + " was called in a capture";
  return capture != nullptr;
}

// Reads the answer to a request into `out`.
NcclError receive(int fd, void* out, size_t bytes) {
  Message answer;
  if (!read_all(fd, &answer, sizeof answer)) return kRemoteError;
  if (answer.kind != MessageKind::kDone || answer.bytes != bytes) return kInternalError;
  return read_all(fd, out, bytes) ? kNcclSuccess : kRemoteError;
}

// The numbers of elements that a rank sends and receives.
struct Counts {
  size_t in, out;
};

NcclError collective(const char* name, Combine combine, const void* in, void* out, Counts counts,
                     NcclType type, NcclOperation reduction, ncclComm* communicator,
                     StreamHandle stream) {
  if (const int code = injected(name); code != 0) return code;
  if (!is_ready(communicator)) return kNcclInvalidUsage;
  const auto member = communicator->member;
  if (member->has_registered(in)) (void)injected("a registered operand");  // for shw_fake_calls
  const Dtype dtype = dtype_of(type);
  const auto size = static_cast<size_t>(shw::dtype_size(dtype));
  push(member, stream, [=](uint64_t turn) -> Work {
    const Message request{MessageKind::kMeet,
                          static_cast<int32_t>(combine),
                          static_cast<int32_t>(dtype),
                          static_cast<int32_t>(reduce_op(reduction)),
                          turn,
                          counts.in * size};
    return [=](const shw::strict::Memory& memory) -> Status {
      SHW_ASSIGN_OR_RETURN(const void* from, memory.for_kernels(in));
      SHW_ASSIGN_OR_RETURN(void* to, memory.for_kernels(out));
      member->in_turn(request.number, [&](int fd) {
        if (!write_message(fd, request, from)) return kRemoteError;
        return receive(fd, to, counts.out * size);
      });
      return {};
    };
  });
  return kNcclSuccess;
}

// One send or receive between ncclGroupStart and ncclGroupEnd.
struct Transfer {
  const void* from;  // null: this is a receive
  void* to;
  size_t bytes;
  int peer;
  std::shared_ptr<Member> member;
  StreamHandle stream;
};
thread_local std::vector<Transfer> transfers;
thread_local std::vector<std::shared_ptr<Member>> aborted;  // in the current group
thread_local int group_depth = 0;

// `from` and `to` are already addresses that the host can access.
NcclError transfer_all(int fd, const std::vector<Transfer>& all) {
  std::vector<int32_t> senders;
  for (const Transfer& t : all) {
    if (t.from == nullptr)
      senders.push_back(t.peer);
    else if (!write_message(fd, {.kind = MessageKind::kPost, .a = t.peer, .bytes = t.bytes},
                            t.from))
      return kRemoteError;
  }
  if (senders.empty()) return kNcclSuccess;
  const uint64_t bytes = senders.size() * sizeof senders[0];
  if (!write_message(fd, {.kind = MessageKind::kCollect, .bytes = bytes}, senders.data()))
    return kRemoteError;
  for (const Transfer& t : all) {
    if (t.from != nullptr) continue;
    if (const NcclError error = receive(fd, t.to, t.bytes); error != kNcclSuccess) return error;
  }
  return kNcclSuccess;
}

Status transfer_on(const shw::strict::Memory& memory, uint64_t number, std::vector<Transfer> all) {
  for (Transfer& t : all) {
    if (t.from != nullptr) {
      SHW_ASSIGN_OR_RETURN(t.from, memory.for_kernels(t.from));
    } else {
      SHW_ASSIGN_OR_RETURN(t.to, memory.for_kernels(t.to));
    }
  }
  all[0].member->in_turn(number, [&](int fd) { return transfer_all(fd, all); });
  return {};
}

NcclError transfer(const char* name, const Transfer& t, ncclComm* communicator) {
  if (const int code = injected(name); code != 0) return code;
  if (!is_ready(communicator) || group_depth == 0) return kNcclInvalidUsage;
  if (t.peer < 0 || t.peer >= communicator->member->size()) return kInvalidArgument;
  transfers.push_back(t);
  return kNcclSuccess;
}

}  // namespace

#define FAKE SHW_FAKE_API NcclError
FAKE ncclGetVersion(int* version) {
  const int other = injected("ncclGetVersion");
  *version = other != 0 ? other : kVersion;
  return kNcclSuccess;
}
SHW_FAKE_API const char* ncclGetErrorString(NcclError) { return "an error of the fake NCCL"; }
FAKE ncclGetUniqueId(NcclId* id) {
  if (const int code = injected("ncclGetUniqueId"); code != 0) return code;
  const std::string server = start_nccl_server();
  if (server.empty()) return kInternalError;
  *id = {};
  std::snprintf(id->bytes, sizeof id->bytes, "FAKE %s", server.c_str());
  return kNcclSuccess;
}
FAKE ncclCommInitRankConfig(NcclCommunicator* made, int n, NcclId id, int rank,
                            NcclConfig* config) {
  if (const int code = injected("ncclCommInitRankConfig"); code != 0) return code;
  if (breaks_capture("ncclCommInitRankConfig")) return kUnhandledCudaError;
  if (config->magic != 0xcafebeef || config->blocking != 0 || rank < 0 || rank >= n ||
      std::strncmp(id.bytes, "FAKE ", 5) != 0)
    return kInvalidArgument;
  const Message request{MessageKind::kJoin, n, rank};
  *made = new ncclComm(std::make_shared<Member>(id.bytes + 5, request));
  return kNcclInProgress;
}
FAKE ncclCommSplit(NcclCommunicator of, int color, int key, NcclCommunicator* made, NcclConfig*) {
  if (const int code = injected("ncclCommSplit"); code != 0) return code;
  if (breaks_capture("ncclCommSplit")) return kUnhandledCudaError;
  if (!is_ready(of)) return kNcclInvalidUsage;
  const Message request{MessageKind::kSplit, color, key, of->member->ready().c};
  *made = new ncclComm(std::make_shared<Member>(of->member->server(), request));
  return kNcclInProgress;
}
FAKE ncclCommGetAsyncError(NcclCommunicator communicator, NcclError* error) {
  const int code = injected("ncclCommGetAsyncError");
  *error = code != 0 ? code : communicator->member->state();
  return kNcclSuccess;
}
// Ends running collectives at once, then waits for the graphs that hold the communicator. Within a
// group, the end of the group waits for them.
FAKE ncclCommAbort(NcclCommunicator communicator) {
  const std::shared_ptr<Member> member = communicator->member;
  member->abort();
  delete communicator;
  if (group_depth > 0)
    aborted.push_back(member);
  else
    member->wait_for_graphs();
  return kNcclSuccess;
}
FAKE ncclMemAlloc(void** memory, size_t bytes) {
  if (const int code = injected("ncclMemAlloc"); code != 0) return code;
  if (breaks_capture("ncclMemAlloc")) return kUnhandledCudaError;
  DevicePointer made = 0;
  if (cuMemAlloc_v2(&made, bytes) != kDriverSuccess) return kUnhandledCudaError;
  *memory = reinterpret_cast<void*>(made);
  return kNcclSuccess;
}
FAKE ncclMemFree(void* memory) {
  const bool freed = cuMemFree_v2(reinterpret_cast<DevicePointer>(memory)) == kDriverSuccess;
  return freed ? kNcclSuccess : kUnhandledCudaError;
}
FAKE ncclCommRegister(NcclCommunicator communicator, void* begin, size_t bytes, void** handle) {
  if (const int code = injected("ncclCommRegister"); code != 0) return code;
  if (!is_ready(communicator)) return kNcclInvalidUsage;
  if (breaks_capture("ncclCommRegister")) return kUnhandledCudaError;
  communicator->member->register_memory(static_cast<const char*>(begin), bytes);
  *handle = begin;
  return kNcclSuccess;
}
FAKE ncclCommDeregister(NcclCommunicator communicator, void* handle) {
  (void)injected("ncclCommDeregister");
  return communicator->member->forget_memory(handle) ? kNcclSuccess : kInvalidArgument;
}
FAKE ncclGroupStart() {
  ++group_depth;
  return kNcclSuccess;
}
FAKE ncclGroupEnd() {
  if (--group_depth > 0) return kNcclSuccess;
  for (const auto& member : std::exchange(aborted, {})) member->wait_for_graphs();
  if (transfers.empty()) return kNcclSuccess;
  const std::vector<Transfer> all = std::exchange(transfers, {});
  push(all[0].member, all[0].stream, [all](uint64_t turn) -> Work {
    return
        [all, turn](const shw::strict::Memory& memory) { return transfer_on(memory, turn, all); };
  });
  return kNcclSuccess;
}
FAKE ncclAllReduce(const void* in, void* out, size_t count, NcclType type, NcclOperation operation,
                   NcclCommunicator communicator, StreamHandle stream) {
  return collective("ncclAllReduce", Combine::kAllReduce, in, out, {count, count}, type, operation,
                    communicator, stream);
}
FAKE ncclReduceScatter(const void* in, void* out, size_t count, NcclType type,
                       NcclOperation operation, NcclCommunicator communicator,
                       StreamHandle stream) {
  const size_t n = is_ready(communicator) ? static_cast<size_t>(communicator->member->size()) : 0;
  return collective("ncclReduceScatter", Combine::kReduceScatter, in, out, {n * count, count}, type,
                    operation, communicator, stream);
}
FAKE ncclAllGather(const void* in, void* out, size_t count, NcclType type,
                   NcclCommunicator communicator, StreamHandle stream) {
  const size_t n = is_ready(communicator) ? static_cast<size_t>(communicator->member->size()) : 0;
  return collective("ncclAllGather", Combine::kAllGather, in, out, {count, n * count}, type,
                    kNcclSum, communicator, stream);
}
FAKE ncclSend(const void* from, size_t count, NcclType type, int peer,
              NcclCommunicator communicator, StreamHandle stream) {
  const auto bytes = count * static_cast<size_t>(shw::dtype_size(dtype_of(type)));
  return transfer("ncclSend", {from, nullptr, bytes, peer, communicator->member, stream},
                  communicator);
}
FAKE ncclRecv(void* to, size_t count, NcclType type, int peer, NcclCommunicator communicator,
              StreamHandle stream) {
  const auto bytes = count * static_cast<size_t>(shw::dtype_size(dtype_of(type)));
  return transfer("ncclRecv", {nullptr, to, bytes, peer, communicator->member, stream},
                  communicator);
}
