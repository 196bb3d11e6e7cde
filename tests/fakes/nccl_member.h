// One rank of a communicator of the fake NCCL: the rank's end of the connection to the server.
#pragma once
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fakes/nccl_server.h"
#include "fakes/nccl_wire.h"
#include "runtime/cuda/plugin/nccl.h"

namespace shw::fakes {

using runtime::cuda::kNcclInProgress;
using runtime::cuda::kNcclSuccess;
using runtime::cuda::NcclError;

inline constexpr NcclError kRemoteError = 6;

// Thread-safe: the caller's thread and the threads of its streams use it.
class Member {
 public:
  Member(std::string server, const Message& request)
      : server_(std::move(server)), fd_(connect_to_nccl_server(server_)) {
    if (fd_ < 0 || !write_message(fd_, request)) state_ = kRemoteError;
  }
  ~Member() {
    if (fd_ >= 0) close(fd_);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  NcclError state() {
    std::lock_guard lock(mutex_);
    if (state_ == kNcclInProgress) look_for_ready();
    return state_;
  }
  // Valid once state() has returned kNcclSuccess.
  const Message& ready() const { return ready_; }
  int size() const { return ready_.b; }
  const std::string& server() const { return server_; }

  uint64_t issue() { return issued_++; }
  bool is_aborted() const { return is_aborted_; }
  void abort() {
    is_aborted_ = true;
    if (fd_ >= 0) shutdown(fd_, SHUT_RDWR);
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  // The reference that a graph with a collective of this communicator holds. wait_for_graphs()
  // waits until all of them are gone.
  static std::shared_ptr<void> held_by_graph(const std::shared_ptr<Member>& member) {
    std::lock_guard lock(member->mutex_);
    ++member->graphs_;
    return {nullptr, [member](void*) {
              std::lock_guard back(member->mutex_);
              --member->graphs_;
              member->changed_.notify_all();
            }};
  }
  // The memory that this rank has registered. The map has the end of each range by its begin.
  void register_memory(const char* begin, size_t bytes) {
    std::lock_guard lock(mutex_);
    registered_[begin] = begin + bytes;
  }
  bool forget_memory(const void* begin) {
    std::lock_guard lock(mutex_);
    return registered_.erase(static_cast<const char*>(begin)) == 1;
  }
  bool has_registered(const void* at) {
    std::lock_guard lock(mutex_);
    auto it = registered_.upper_bound(static_cast<const char*>(at));
    return it != registered_.begin() && (--it, static_cast<const char*>(at) < it->second);
  }
  void wait_for_graphs() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return graphs_ == 0; });
  }

  // Calls `exchange(fd)` when all collectives issued before `number` are done. `exchange` returns
  // kNcclSuccess or an error. After an error nothing on this communicator completes until it is
  // aborted.
  template <class F>
  void in_turn(uint64_t number, F&& exchange) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_aborted_ || done_ == number; });
    if (is_aborted_) return;
    lock.unlock();
    const NcclError error = exchange(fd_);
    lock.lock();
    if (error != kNcclSuccess) {
      if (!is_aborted_) state_ = error;
      changed_.wait(lock, [&] { return is_aborted_.load(); });
    }
    ++done_;
    changed_.notify_all();
  }

 private:
  void look_for_ready() {
    char head[sizeof(Message)];
    const ssize_t n = recv(fd_, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
    if (n == 0) state_ = kRemoteError;
    if (n != ssize_t{sizeof head}) return;
    state_ = read_all(fd_, &ready_, sizeof ready_) ? kNcclSuccess : kRemoteError;
  }

  const std::string server_;
  const int fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  NcclError state_ = kNcclInProgress;
  Message ready_{};
  std::atomic<uint64_t> issued_{0};
  uint64_t done_ = 0;
  int graphs_ = 0;
  std::map<const char*, const char*> registered_;
  std::atomic<bool> is_aborted_{false};
};

}  // namespace shw::fakes
