#include "runtime/world/message_collective.h"

#include <algorithm>
#include <cstring>

namespace shw::runtime {
namespace {

// A smaller all-reduce sends all data to every member, which needs one wait instead of two. In
// bytes.
constexpr int64_t kOneRoundBytes = 8 << 10;

}  // namespace

MessageCollective::MessageCollective(const CollectiveRecord& record, const HostCollective& call,
                                     ReduceFn reduce, Rounds& rounds, RoundWatcher& watcher,
                                     std::vector<const void*>& sources)
    : record_(record),
      call_(call),
      reduce_(reduce),
      rounds_(rounds),
      watcher_(watcher),
      sources_(sources),
      count_(record.spec.count),
      size_(dtype_size(record.spec.dtype)),
      members_(rounds.size()),
      me_(rounds.me()),
      input_(static_cast<const std::byte*>(call.input)),
      output_(static_cast<std::byte*>(call.output)) {}

int64_t MessageCollective::payload_bytes(const CollectiveSpec& spec) {
  return spec.count * dtype_size(spec.dtype);
}

Status MessageCollective::run() {
  switch (record_.spec.kind) {
    case CollectiveKind::kAllGather:
      return all_gather();
    case CollectiveKind::kAllToAll:
      return record_.spec.by_counts ? all_to_all_v() : all_to_all();
    case CollectiveKind::kPermute:
      return permute();
    case CollectiveKind::kReduceScatter:
      return reduce_scatter();
    case CollectiveKind::kAllReduce:
      return members_ <= 2 || count_ * size_ <= kOneRoundBytes ? all_reduce_by_all()
                                                               : all_reduce_by_parts();
    case CollectiveKind::kNone:
      break;
  }
  return {};
}

void MessageCollective::copy(int64_t to, const void* from, int64_t elements) const {
  if (elements > 0) std::memcpy(out(to), from, static_cast<size_t>(elements * size_));
}

void MessageCollective::reduce_into(int64_t to, const void* own, int64_t elements) {
  if (elements <= 0) return;
  for (int64_t m = 0; m < members_; ++m)
    sources_[static_cast<size_t>(m)] = m == me_ ? own : rounds_.got(m);
  void* result = out(to);
  reduce_({sources_.data(), members_, 0, &result, 1, 0, elements});
}

Status MessageCollective::all_gather() {
  int64_t first = 0;
  do {
    const int64_t n = std::min(piece(), count_ - first);
    rounds_.put_for_all(in(first), n * size_);
    SHW_RETURN_IF_ERROR(round());
    for (int64_t m = 0; m < members_; ++m)
      copy(m * count_ + first, m == me_ ? in(first) : rounds_.got(m), n);
    first += n;
  } while (first < count_);
  return {};
}

Status MessageCollective::all_to_all() {
  int64_t first = 0;
  do {
    const int64_t n = std::min(piece(), count_ - first);
    for (int64_t m = 0; m < members_; ++m) rounds_.put(m, in(m * count_ + first), n * size_);
    SHW_RETURN_IF_ERROR(round());
    for (int64_t m = 0; m < members_; ++m)
      copy(m * count_ + first, m == me_ ? in(m * count_ + first) : rounds_.got(m), n);
    first += n;
  } while (first < count_);
  return {};
}

// A pair of members exchanges messages until each has received all data from the other. They
// exchange at least one message, which shows whether their counts agree. Both know when they are
// done; other pairs continue.
Status MessageCollective::all_to_all_v() {
  const int64_t *send = call_.send_offsets, *receive = call_.receive_offsets;
  const auto sends = [&](int64_t m) { return send[m + 1] - send[m]; };
  const auto expects = [&](int64_t m) { return receive[m + 1] - receive[m]; };
  copy(receive[me_], in(send[me_]), sends(me_));
  int64_t longest = 1;
  for (int64_t m = 0; m < members_; ++m) {
    rounds_.set_counts(m, sends(m), expects(m));
    if (m != me_) longest = std::max({longest, sends(m), expects(m)});
  }
  for (int64_t first = 0; first < longest; first += piece()) {
    const auto part = [&](int64_t all) { return std::clamp<int64_t>(all - first, 0, piece()); };
    for (int64_t m = 0; m < members_; ++m) {
      if (first > 0 && first >= std::max(sends(m), expects(m)))
        rounds_.skip(m);
      else
        rounds_.put(m, in(send[m] + std::min(first, sends(m))), part(sends(m)) * size_);
    }
    SHW_RETURN_IF_ERROR(round());
    for (int64_t m = 0; m < members_; ++m)
      if (m != me_) copy(receive[m] + first, rounds_.got(m), part(expects(m)));
  }
  return {};
}

Status MessageCollective::permute() {
  const int64_t source = record_.spec.source, target = record_.spec.target;
  int64_t first = 0;
  do {
    const int64_t n = std::min(piece(), count_ - first);
    rounds_.pass(target, in(first), n * size_, source);
    SHW_RETURN_IF_ERROR(round());
    copy(first, source == me_ ? in(first) : rounds_.got(source), n);
    first += n;
  } while (first < count_);
  return {};
}

Status MessageCollective::reduce_scatter() {
  int64_t first = 0;
  do {
    const int64_t n = std::min(piece(), count_ - first);
    for (int64_t m = 0; m < members_; ++m) rounds_.put(m, in(m * count_ + first), n * size_);
    SHW_RETURN_IF_ERROR(round());
    reduce_into(first, in(me_ * count_ + first), n);
    first += n;
  } while (first < count_);
  return {};
}

Status MessageCollective::all_reduce_by_all() {
  int64_t first = 0;
  do {
    const int64_t n = std::min(piece(), count_ - first);
    rounds_.put_for_all(in(first), n * size_);
    SHW_RETURN_IF_ERROR(round());
    reduce_into(first, in(first), n);
    first += n;
  } while (first < count_);
  return {};
}

// Every member reduces one part and sends it to the others. The output may be the input: a part of
// it is only written after the data to send from it have been copied to staging memory.
Status MessageCollective::all_reduce_by_parts() {
  for (int64_t first = 0; first < count_;) {
    const int64_t most = std::min(piece() * members_, count_ - first);
    const int64_t part = (most + members_ - 1) / members_;
    const auto begin = [&](int64_t m) { return first + std::min(m * part, most); };
    const auto length = [&](int64_t m) { return begin(m + 1) - begin(m); };
    for (int64_t m = 0; m < members_; ++m) rounds_.put(m, in(begin(m)), length(m) * size_);
    SHW_RETURN_IF_ERROR(round());
    reduce_into(begin(me_), in(begin(me_)), length(me_));
    rounds_.put_for_all(out(begin(me_)), length(me_) * size_);
    SHW_RETURN_IF_ERROR(round());
    for (int64_t m = 0; m < members_; ++m)
      if (m != me_) copy(begin(m), rounds_.got(m), length(m));
    first += most;
  }
  return {};
}

}  // namespace shw::runtime
