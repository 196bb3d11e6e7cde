#include "runtime/world/control.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace shw::runtime {
namespace {

struct Header {
  uint32_t kind, epoch;
  uint64_t job;
};

std::string bytes_of(const ControlMessage& message) {
  const Header header{message.kind, message.epoch, message.job};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  return bytes.append(message.body, 0, Control::kMaxBody);
}

// Polling intervals. The longer one is enough for aborts, and keeps a world of many processes on
// few cores from spending its time on polling.
constexpr std::chrono::milliseconds kIdlePause{10}, kHurriedPause{1};

}  // namespace

Control::Control(Transport& transport, Handler handler)
    : transport_(transport), handler_(std::move(handler)) {}

void Control::start() {
  thread_ = std::thread([this] { serve(); });
}

Control::~Control() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  // The transport may still read messages that a hanging rank has not received, so their memory is
  // leaked on purpose.
  if (!under_way_.empty()) new std::list<Parcel>(std::move(under_way_));
}

void Control::send(int64_t to, const ControlMessage& message) {
  {
    std::lock_guard lock(mutex_);
    queued_.push_back({to, bytes_of(message), 0});
  }
  wake_.notify_one();
}

void Control::send_to_others(const ControlMessage& message) {
  for (int64_t rank = 0; rank < transport_.size(); ++rank)
    if (rank != transport_.rank()) send(rank, message);
}

void Control::serve() {
  bool last = false;
  while (!last) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, in_a_hurry_ > 0 ? kHurriedPause : kIdlePause,
                     [&] { return ending_ || !queued_.empty(); });
      last = ending_;
    }
    try {
      send_queued();
      if (!last) receive_all();
    } catch (const std::bad_alloc&) {  // what remains is sent or handled the next time
    }
  }
}

void Control::send_queued() {
  {
    std::lock_guard lock(mutex_);
    for (auto it = queued_.begin(); it != queued_.end();) {
      const auto next = std::next(it);
      under_way_.splice(under_way_.end(), queued_, it);
      it = next;
    }
  }
  for (auto it = under_way_.begin(); it != under_way_.end();) {
    Status status;
    const bool is_new = it->request == 0;
    if (is_new)
      status = transport_.send(it->to, kTag, it->bytes.data(),
                               static_cast<int64_t>(it->bytes.size()), &it->request);
    int64_t bytes = 0;
    if (status.ok() && it->request != 0) status = transport_.test(&it->request, &bytes);
    // A message that cannot be sent is dropped; the time-out of its receiver covers that.
    it = !status.ok() || it->request == 0 ? under_way_.erase(it) : std::next(it);
  }
}

void Control::receive_all() {
  while (true) {
    int64_t from = 0, bytes = 0;
    const auto found = transport_.probe(kTag, &from, &bytes);
    if (!found.ok() || !*found) return;
    incoming_.resize(static_cast<size_t>(bytes));
    Transport::Request request = 0;
    if (!transport_.receive(from, kTag, incoming_.data(), bytes, &request).ok()) return;
    // The whole message has arrived, because small messages are not split.
    while (request != 0) {
      if (!transport_.test(&request, &bytes).ok()) return;
      if (request != 0) std::this_thread::yield();
    }
    if (incoming_.size() < sizeof(Header)) continue;
    Header header;
    std::memcpy(&header, incoming_.data(), sizeof header);
    handler_(from, {header.kind, header.epoch, header.job, incoming_.substr(sizeof header)});
  }
}

}  // namespace shw::runtime
