// A fake libnccl: communicators between the threads of one process. As in NCCL, a communicator is
// made when all its ranks have asked for it, a collective is done when all of them have come to it
// on their streams, and an abort ends only the rank that calls it.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "fakes/driver.h"
#include "fakes/inject.h"
#include "runtime/collective/reduce.h"
#include "runtime/cuda/plugin/nccl.h"

using namespace shw::fakes;
using namespace shw::runtime::cuda;
using shw::Dtype;
using shw::Status;

namespace {

constexpr NcclError kInternalError = 3, kInvalidArgument = 4;
constexpr int kVersion = 22809;

enum class Kind { kAllReduce, kReduceScatter, kAllGather };

struct Operation {
  Kind kind;
  size_t count;
  NcclType type;
  NcclOperation reduction;
  bool operator==(const Operation&) const = default;
};

// One collective that ranks meet in.
struct Meeting {
  Operation operation;
  std::vector<const void*> in;
  std::vector<void*> out;
  int arrived = 0;
  bool is_done = false, is_void = false;  // void: a rank left, or they disagree
};

struct Member;

// The ranks of a communicator.
struct Group {
  explicit Group(int n) : size(n), requests(static_cast<size_t>(n)) {}
  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  int joined = 0;
  std::map<uint64_t, Meeting> meetings;                                // by number
  std::map<std::tuple<int, int>, std::deque<std::vector<char>>> mail;  // by sender and receiver
  // A split under way: what each rank has asked for.
  struct Request {
    int color = 0, key = 0;
    std::shared_ptr<Member> member = {};
  };
  std::vector<Request> requests;
  int split_asked = 0;
};

std::mutex groups_mutex;
std::map<std::string, std::weak_ptr<Group>>& groups() {
  static std::map<std::string, std::weak_ptr<Group>> all;
  return all;
}

// What both the caller and its streams' threads use.
struct Member {
  std::shared_ptr<Group> group;  // set once all ranks are there
  int rank = 0;
  std::atomic<NcclError> state{kNcclInProgress};
  std::atomic<bool> is_aborted{false};
  uint64_t dispatched = 0;
};
}  // namespace

struct ncclComm {
  std::shared_ptr<Member> member = std::make_shared<Member>();
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
    default:
      return shw::ReduceOp::kSum;
  }
}

void do_meeting(const Meeting& m) {
  const Operation& o = m.operation;
  const auto bytes = o.count * static_cast<size_t>(shw::dtype_size(dtype_of(o.type)));
  const auto n = static_cast<int64_t>(m.in.size()), count = static_cast<int64_t>(o.count);
  if (o.kind == Kind::kAllGather) {
    for (void* out : m.out)
      for (size_t r = 0; r < m.in.size(); ++r)
        std::memmove(static_cast<char*>(out) + r * bytes, m.in[r], bytes);
    return;
  }
  const auto reduce = *shw::runtime::reduce_function(reduce_op(o.reduction), dtype_of(o.type));
  if (o.kind == Kind::kAllReduce) return reduce({m.in.data(), n, 0, m.out.data(), n, 0, count});
  for (int64_t r = 0; r < n; ++r)
    reduce({m.in.data(), n, r * count, m.out.data() + r, 1, 0, count});
}

// On a stream's thread.
void meet(Member& me, uint64_t number, const Operation& operation, const void* in, void* out) {
  Group& g = *me.group;
  std::unique_lock lock(g.mutex);
  Meeting& m = g.meetings[number];
  if (m.arrived++ == 0) {
    m.operation = operation;
    m.in.resize(static_cast<size_t>(g.size));
    m.out.resize(static_cast<size_t>(g.size));
  }
  m.is_void = m.is_void || !(m.operation == operation);
  m.in[static_cast<size_t>(me.rank)] = in;
  m.out[static_cast<size_t>(me.rank)] = out;
  if (m.arrived == g.size && !m.is_void) {
    do_meeting(m);
    m.is_done = true;
    g.changed.notify_all();
  }
  if (m.is_void) me.state = kInternalError;
  g.changed.wait(lock, [&] { return m.is_done || me.is_aborted; });
  if (!m.is_done) m.is_void = true;  // this rank's memory may be gone
  if (m.is_done && --m.arrived == 0) g.meetings.erase(number);
}

bool is_ready(ncclComm* communicator) { return communicator->member->state.load() == kNcclSuccess; }

void push(const std::shared_ptr<Member>& member, StreamHandle stream,
          std::function<Status(const shw::strict::Memory&)> work) {
  stream->queue->push({[=, device = stream->device](const auto&) {
    if (member->is_aborted) return;
    if (Status s = work(device->context.memory); !s.ok()) device->context.lose(std::move(s));
  }});
}

NcclError collective(const char* name, Kind kind, const void* in, void* out, size_t count,
                     NcclType type, NcclOperation reduction, ncclComm* communicator,
                     StreamHandle stream) {
  if (const int code = injected(name); code != 0) return code;
  if (!is_ready(communicator)) return kNcclInvalidUsage;
  const auto member = communicator->member;
  const uint64_t number = ++member->dispatched;
  push(member, stream, [=](const shw::strict::Memory& memory) -> Status {
    SHW_ASSIGN_OR_RETURN(const void* from, memory.for_kernels(in));
    SHW_ASSIGN_OR_RETURN(void* to, memory.for_kernels(out));
    meet(*member, number, {kind, count, type, reduction}, from, to);
    return {};
  });
  return kNcclSuccess;
}

// Sends and receives between ncclGroupStart and ncclGroupEnd.
struct Transfer {
  const void* from;  // null: a receive
  void* to;
  size_t bytes;
  int peer;
  std::shared_ptr<Member> member;
  StreamHandle stream;
};
thread_local std::vector<Transfer> transfers;
thread_local int group_depth = 0;

Status transfer_all(const std::vector<Transfer>& all, const shw::strict::Memory& memory) {
  Member& me = *all[0].member;
  Group& g = *me.group;
  std::unique_lock lock(g.mutex);
  for (const Transfer& t : all) {
    if (t.from == nullptr) continue;
    SHW_ASSIGN_OR_RETURN(const void* from, memory.for_kernels(t.from));
    const auto* bytes = static_cast<const char*>(from);
    g.mail[{me.rank, t.peer}].emplace_back(bytes, bytes + t.bytes);
  }
  g.changed.notify_all();
  for (const Transfer& t : all) {
    if (t.from != nullptr) continue;
    auto& box = g.mail[{t.peer, me.rank}];
    g.changed.wait(lock, [&] { return !box.empty() || me.is_aborted; });
    if (me.is_aborted) return {};
    SHW_ASSIGN_OR_RETURN(void* to, memory.for_kernels(t.to));
    if (box.front().size() != t.bytes) {
      me.state = kInternalError;
      return {};
    }
    std::memcpy(to, box.front().data(), t.bytes);
    box.pop_front();
  }
  return {};
}

NcclError transfer(const char* name, const Transfer& t, ncclComm* communicator) {
  if (const int code = injected(name); code != 0) return code;
  if (!is_ready(communicator) || group_depth == 0) return kNcclInvalidUsage;
  if (t.peer < 0 || t.peer >= communicator->member->group->size) return kInvalidArgument;
  transfers.push_back(t);
  return kNcclSuccess;
}

// Every rank has asked: each colour becomes a group, in the order of the keys.
void finish_split(Group& g) {
  std::map<int, std::vector<Group::Request>> by_color;
  for (const Group::Request& r : g.requests) by_color[r.color].push_back(r);
  for (auto& [color, all] : by_color) {
    std::ranges::sort(all, {}, &Group::Request::key);
    const auto made = std::make_shared<Group>(static_cast<int>(all.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].member == nullptr) continue;  // has left
      Member& member = *all[i].member;
      member.group = made;
      member.rank = static_cast<int>(i);
      member.state = kNcclSuccess;
    }
  }
  for (Group::Request& r : g.requests) r.member = nullptr;
  g.split_asked = 0;
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
  static std::atomic<uint64_t> last{0};
  if (const int code = injected("ncclGetUniqueId"); code != 0) return code;
  *id = {};
  std::snprintf(id->bytes, sizeof id->bytes, "FAKE %llu", static_cast<unsigned long long>(++last));
  return kNcclSuccess;
}
FAKE ncclCommInitRankConfig(NcclCommunicator* made, int n, NcclId id, int rank,
                            NcclConfig* config) {
  if (const int code = injected("ncclCommInitRankConfig"); code != 0) return code;
  if (config->magic != 0xcafebeef || config->blocking != 0 || rank < 0 || rank >= n ||
      std::strncmp(id.bytes, "FAKE ", 5) != 0)
    return kInvalidArgument;
  std::shared_ptr<Group> group;
  {
    std::lock_guard lock(groups_mutex);
    std::weak_ptr<Group>& known = groups()[id.bytes];
    group = known.lock();
    if (group == nullptr) known = group = std::make_shared<Group>(n);
  }
  *made = new ncclComm;
  std::lock_guard lock(group->mutex);
  (*made)->member->group = group;
  (*made)->member->rank = rank;
  group->requests[static_cast<size_t>(rank)].member = (*made)->member;
  if (++group->joined == n)
    for (Group::Request& r : group->requests)
      if (const auto member = std::exchange(r.member, nullptr); member != nullptr)
        member->state = kNcclSuccess;
  return kNcclInProgress;
}
FAKE ncclCommSplit(NcclCommunicator of, int color, int key, NcclCommunicator* made, NcclConfig*) {
  if (const int code = injected("ncclCommSplit"); code != 0) return code;
  if (!is_ready(of)) return kNcclInvalidUsage;
  Group& g = *of->member->group;
  *made = new ncclComm;
  std::lock_guard lock(g.mutex);
  g.requests[static_cast<size_t>(of->member->rank)] = {color, key, (*made)->member};
  if (++g.split_asked == g.size) finish_split(g);
  return kNcclInProgress;
}
FAKE ncclCommGetAsyncError(NcclCommunicator communicator, NcclError* error) {
  const int code = injected("ncclCommGetAsyncError");
  *error = code != 0 ? code : communicator->member->state.load();
  return kNcclSuccess;
}
FAKE ncclCommAbort(NcclCommunicator communicator) {
  const std::shared_ptr<Member> member = communicator->member;
  if (member->group != nullptr) {
    std::lock_guard lock(member->group->mutex);
    member->is_aborted = true;
    member->group->requests[static_cast<size_t>(member->rank)].member = nullptr;
    member->group->changed.notify_all();
  }
  delete communicator;
  return kNcclSuccess;
}
FAKE ncclGroupStart() {
  ++group_depth;
  return kNcclSuccess;
}
FAKE ncclGroupEnd() {
  if (--group_depth > 0 || transfers.empty()) return kNcclSuccess;
  const std::vector<Transfer> all = std::exchange(transfers, {});
  push(all[0].member, all[0].stream,
       [all](const shw::strict::Memory& memory) { return transfer_all(all, memory); });
  return kNcclSuccess;
}
FAKE ncclAllReduce(const void* in, void* out, size_t count, NcclType type, NcclOperation operation,
                   NcclCommunicator communicator, StreamHandle stream) {
  return collective("ncclAllReduce", Kind::kAllReduce, in, out, count, type, operation,
                    communicator, stream);
}
FAKE ncclReduceScatter(const void* in, void* out, size_t count, NcclType type,
                       NcclOperation operation, NcclCommunicator communicator,
                       StreamHandle stream) {
  return collective("ncclReduceScatter", Kind::kReduceScatter, in, out, count, type, operation,
                    communicator, stream);
}
FAKE ncclAllGather(const void* in, void* out, size_t count, NcclType type,
                   NcclCommunicator communicator, StreamHandle stream) {
  return collective("ncclAllGather", Kind::kAllGather, in, out, count, type, kNcclSum, communicator,
                    stream);
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
