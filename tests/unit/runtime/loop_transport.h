// A transport between threads of one process. With it, tests of multi-process worlds can let ranks
// die and delay messages.
#pragma once
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "runtime/world/transport.h"

namespace shw::testing {

class Fabric {
 public:
  explicit Fabric(int64_t size, uint32_t seed = 1) : size_(size), random_(seed) {}
  int64_t size() const { return size_; }
  // From now on the rank neither sends nor receives, as if it had been killed or stopped.
  void silence(int64_t rank) {
    std::lock_guard lock(mutex_);
    silent_.insert(rank);
  }
  // One element for each closed connection: true if it was closed in order.
  std::vector<bool> closed;

 private:
  friend class LoopTransport;
  using Key = std::tuple<int64_t, int64_t, int32_t>;  // from, to, tag
  struct Receive {
    Key key;
    void* data;
    int64_t bytes;
  };
  const int64_t size_;
  std::mutex mutex_;
  std::mt19937 random_;
  std::set<int64_t> silent_;
  std::map<Key, std::deque<std::vector<std::byte>>> messages_;
  std::map<uint64_t, Receive> receives_;
  uint64_t next_request_ = 0;
};

class LoopTransport final : public runtime::Transport {
 public:
  LoopTransport(std::shared_ptr<Fabric> fabric, int64_t rank)
      : fabric_(std::move(fabric)), rank_(rank) {}
  int64_t rank() const override { return rank_; }
  int64_t size() const override { return fabric_->size(); }
  int64_t rank_on_host() const override { return rank(); }
  int32_t max_tag() const override { return INT32_MAX; }

  Status send(int64_t to, int32_t tag, const void* data, int64_t bytes, Request*) override {
    std::lock_guard lock(fabric_->mutex_);
    if (fabric_->silent_.contains(rank_)) return {};
    const auto* p = static_cast<const std::byte*>(data);
    fabric_->messages_[{rank_, to, tag}].emplace_back(p, p + bytes);
    return {};
  }
  Status receive(int64_t from, int32_t tag, void* data, int64_t bytes, Request* request) override {
    std::lock_guard lock(fabric_->mutex_);
    *request = ++fabric_->next_request_;
    fabric_->receives_[*request] = {{from, rank_, tag}, data, bytes};
    return {};
  }
  Status test(Request* request, int64_t* bytes) override {
    std::lock_guard lock(fabric_->mutex_);
    const Fabric::Receive& r = fabric_->receives_.at(*request);
    auto& queue = fabric_->messages_[r.key];
    if (queue.empty() || fabric_->silent_.contains(rank_) || fabric_->random_() % 3 == 0) return {};
    if (static_cast<int64_t>(queue.front().size()) > r.bytes)
      return Status(Code::kUnavailable, "a message is longer than its receive");
    if (!queue.front().empty()) std::memcpy(r.data, queue.front().data(), queue.front().size());
    *bytes = static_cast<int64_t>(queue.front().size());
    queue.pop_front();
    fabric_->receives_.erase(*request);
    *request = 0;
    return {};
  }
  void cancel(Request* request) override {
    std::lock_guard lock(fabric_->mutex_);
    fabric_->receives_.erase(*request);
    *request = 0;
  }
  Result<bool> probe(int32_t tag, int64_t* from, int64_t* bytes) override {
    std::lock_guard lock(fabric_->mutex_);
    if (fabric_->silent_.contains(rank_)) return false;
    for (int64_t r = 0; r < size(); ++r) {
      const auto it = fabric_->messages_.find({r, rank_, tag});
      if (it == fabric_->messages_.end() || it->second.empty()) continue;
      *from = r;
      *bytes = static_cast<int64_t>(it->second.front().size());
      return true;
    }
    return false;
  }
  void close(bool orderly) override {
    std::lock_guard lock(fabric_->mutex_);
    fabric_->closed.push_back(orderly);
  }

 private:
  std::shared_ptr<Fabric> fabric_;
  const int64_t rank_;
};

}  // namespace shw::testing
