// A transport over socket pairs between processes that one process has forked. It allows worlds of
// several processes without MPI.
#pragma once
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/world/transport.h"

namespace shw::testing {

// Made before the fork. Rank a uses [a][b] to communicate with rank b.
using Sockets = std::vector<std::vector<int>>;
inline Sockets make_sockets(size_t ranks) {
  Sockets all(ranks, std::vector<int>(ranks, -1));
  for (size_t a = 0; a < ranks; ++a)
    for (size_t b = 0; b <= a; ++b) {
      int pair[2] = {-1, -1};
      if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return {};
      all[a][b] = pair[0];
      if (a != b) all[b][a] = pair[1];
    }
  return all;
}

class SocketTransport final : public runtime::Transport {
 public:
  SocketTransport(std::vector<int> peers, int64_t rank)
      : peers_(std::move(peers)), rank_(rank), inboxes_(peers_.size()) {
    for (size_t from = 0; from < peers_.size(); ++from)
      if (static_cast<int64_t>(from) != rank_)
        readers_.emplace_back([this, from] { read_all(from); });
  }
  ~SocketTransport() override { close(false); }
  int64_t rank() const override { return rank_; }
  int64_t size() const override { return static_cast<int64_t>(peers_.size()); }
  int64_t rank_on_host() const override { return rank_; }
  int32_t max_tag() const override { return INT32_MAX; }

  // Blocks only until the other side's reader thread has stored the message.
  Status send(int64_t to, int32_t tag, const void* data, int64_t bytes, Request*) override {
    const std::lock_guard lock(sending_);
    if (to == rank_) {
      const auto* p = static_cast<const std::byte*>(data);
      put(static_cast<size_t>(to), tag, {p, p + bytes});
      return {};
    }
    const int64_t head[2] = {tag, bytes};
    const int socket = peers_[static_cast<size_t>(to)];
    if (!write_all(socket, head, sizeof head) || !write_all(socket, data, bytes))
      return Status(Code::kUnavailable, "rank " + std::to_string(to) + " is gone");
    return {};
  }
  Status receive(int64_t from, int32_t tag, void* data, int64_t bytes, Request* request) override {
    const std::lock_guard lock(mutex_);
    *request = ++last_request_;
    receives_[*request] = {from, tag, data, bytes};
    return {};
  }
  Status test(Request* request, int64_t* bytes) override {
    const std::lock_guard lock(mutex_);
    const Receive& r = receives_.at(*request);
    auto& queue = inboxes_[static_cast<size_t>(r.from)][r.tag];
    if (queue.empty()) return {};
    const Message message = std::move(queue.front());
    queue.pop_front();
    *bytes = static_cast<int64_t>(message.size());
    if (*bytes > r.bytes) return Status(Code::kUnavailable, "a message is longer than its receive");
    if (!message.empty()) std::memcpy(r.data, message.data(), message.size());
    receives_.erase(*request);
    *request = 0;
    return {};
  }
  void cancel(Request* request) override {
    const std::lock_guard lock(mutex_);
    receives_.erase(*request);
    *request = 0;
  }
  Result<bool> probe(int32_t tag, int64_t* from, int64_t* bytes) override {
    const std::lock_guard lock(mutex_);
    for (size_t r = 0; r < inboxes_.size(); ++r) {
      const auto it = inboxes_[r].find(tag);
      if (it == inboxes_[r].end() || it->second.empty()) continue;
      *from = static_cast<int64_t>(r);
      *bytes = static_cast<int64_t>(it->second.front().size());
      return true;
    }
    return false;
  }
  void close(bool) override {
    for (const int socket : peers_)
      if (socket >= 0) shutdown(socket, SHUT_RDWR);
    for (std::thread& reader : readers_) reader.join();
    readers_.clear();
    for (int& socket : peers_)
      if (socket >= 0) ::close(std::exchange(socket, -1));
  }

 private:
  using Message = std::vector<std::byte>;
  struct Receive {
    int64_t from;
    int32_t tag;
    void* data;
    int64_t bytes;
  };

  static bool write_all(int socket, const void* data, int64_t bytes) {
    const auto* p = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t done = ::send(socket, p, static_cast<size_t>(bytes), MSG_NOSIGNAL);
      if (done <= 0) return false;
      p += done;
      bytes -= done;
    }
    return true;
  }
  static bool read_exactly(int socket, void* data, int64_t bytes) {
    return bytes == 0 ||
           recv(socket, data, static_cast<size_t>(bytes), MSG_WAITALL) == ssize_t{bytes};
  }
  void put(size_t from, int32_t tag, Message message) {
    const std::lock_guard lock(mutex_);
    inboxes_[from][tag].push_back(std::move(message));
  }
  void read_all(size_t from) {
    int64_t head[2];
    while (read_exactly(peers_[from], head, sizeof head)) {
      Message message(static_cast<size_t>(head[1]));
      if (!read_exactly(peers_[from], message.data(), head[1])) return;
      put(from, static_cast<int32_t>(head[0]), std::move(message));
    }
  }

  std::vector<int> peers_;
  const int64_t rank_;
  std::mutex sending_, mutex_;
  std::vector<std::map<int32_t, std::deque<Message>>> inboxes_;  // by sender, by tag
  std::map<Request, Receive> receives_;
  Request last_request_ = 0;
  std::vector<std::thread> readers_;
};

}  // namespace shw::testing
