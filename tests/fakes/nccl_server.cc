#include "fakes/nccl_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "fakes/nccl_wire.h"
#include "runtime/collective/reduce.h"

namespace shw::fakes {
namespace {

struct Group;

// One rank of one communicator: one connection.
struct Member {
  int fd = -1;  // -1: the rank has left
  std::shared_ptr<Group> group;
  int rank = 0;
  std::vector<int32_t> collects;  // the senders whose messages it waits for
};

// One collective of a communicator, until all ranks have arrived.
struct Meeting {
  Message first{};
  std::vector<std::vector<char>> in;  // by rank
  int arrived = 0;
  bool is_broken = false;
};

// A communicator.
struct Group {
  explicit Group(int n) : members(static_cast<size_t>(n)) {}
  int size() const { return static_cast<int>(members.size()); }
  std::vector<std::shared_ptr<Member>> members;  // by rank; null: the rank has not joined yet
  int arrived = 0;
  std::map<uint64_t, Meeting> meetings;                               // by number
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> mail;  // by sender and receiver
  // The requests of a split that not all ranks have made yet.
  struct Request {
    int color, key;
    std::shared_ptr<Member> member;
  };
  std::vector<Request> requests;
};

// Sends nothing to a rank that has left.
void reply(Member& member, Message head, const void* bytes = nullptr) {
  if (member.fd >= 0) (void)write_message(member.fd, head, bytes);
}

std::vector<std::vector<char>> results_of(const Meeting& m) {
  const auto combine = static_cast<Combine>(m.first.a);
  const auto n = static_cast<int64_t>(m.in.size());
  const size_t bytes = m.in[0].size();
  if (combine == Combine::kAllGather) {
    std::vector<char> all;
    for (const std::vector<char>& in : m.in) all.insert(all.end(), in.begin(), in.end());
    return {m.in.size(), all};
  }
  const auto dtype = static_cast<Dtype>(m.first.b);
  const auto reduce = *runtime::reduce_function(static_cast<ReduceOp>(m.first.c), dtype);
  const bool scatters = combine == Combine::kReduceScatter;
  const int64_t count =
      static_cast<int64_t>(bytes) / dtype_size(dtype) / (scatters ? n : int64_t{1});
  std::vector<const void*> in;
  for (const std::vector<char>& i : m.in) in.push_back(i.data());
  std::vector<std::vector<char>> out(m.in.size(),
                                     std::vector<char>(scatters ? bytes / m.in.size() : bytes));
  for (int64_t r = 0; r < n; ++r) {
    void* to = out[static_cast<size_t>(r)].data();
    reduce({in.data(), n, scatters ? r * count : 0, &to, 1, 0, count});
  }
  return out;
}

class Server {
 public:
  explicit Server(int listening) : listening_(listening) {}
  ~Server() {
    close(listening_);
    for (const auto& m : members_) {  // members and groups hold each other; this breaks the cycle
      m->group = nullptr;
      if (m->fd >= 0) close(m->fd);
    }
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  void serve(const std::atomic<bool>& stop);

 private:
  void accept_one();
  bool answer(const std::shared_ptr<Member>& from);
  void join(const std::shared_ptr<Member>& from, const Message& head);
  void split(const std::shared_ptr<Member>& from, const Message& head);
  void finish_split(Group& group);
  void enter(const std::shared_ptr<Group>& group, int rank, const std::shared_ptr<Member>& member);
  static void meet(Member& from, const Message& head, std::vector<char> bytes);
  static void deliver(Member& to);

  const int listening_;
  bool has_begun_ = false;
  // of all communicators; the index is the member number
  std::vector<std::shared_ptr<Member>> members_;
  std::shared_ptr<Group> all_;
};

void Server::serve(const std::atomic<bool>& stop) {
  while (!stop) {
    std::vector<pollfd> watched{{listening_, POLLIN, 0}};
    std::vector<std::shared_ptr<Member>> here;
    for (const auto& m : members_)
      if (m->fd >= 0) {
        watched.push_back({m->fd, POLLIN, 0});
        here.push_back(m);
      }
    if (has_begun_ && here.empty()) return;
    constexpr int kLookAgainMs = 20;  // how often `stop` is checked
    if (poll(watched.data(), watched.size(), kLookAgainMs) <= 0) continue;
    if (watched[0].revents != 0) accept_one();
    for (size_t i = 0; i < here.size(); ++i)
      if (watched[i + 1].revents != 0 && !answer(here[i])) {
        close(here[i]->fd);
        here[i]->fd = -1;
      }
  }
}

void Server::accept_one() {
  const int fd = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  has_begun_ = true;
  members_.push_back(std::make_shared<Member>());
  members_.back()->fd = fd;
}

// Returns false if the member has left.
bool Server::answer(const std::shared_ptr<Member>& from) {
  Message head;
  if (!read_all(from->fd, &head, sizeof head)) return false;
  std::vector<char> bytes(head.bytes);
  if (!read_all(from->fd, bytes.data(), bytes.size())) return false;
  switch (head.kind) {
    case MessageKind::kJoin:
      join(from, head);
      break;
    case MessageKind::kSplit:
      split(from, head);
      break;
    case MessageKind::kMeet:
      meet(*from, head, std::move(bytes));
      break;
    case MessageKind::kPost:
      from->group->mail[{from->rank, head.a}].push_back(std::move(bytes));
      deliver(*from->group->members[static_cast<size_t>(head.a)]);
      break;
    case MessageKind::kCollect:
      from->collects.resize(bytes.size() / sizeof(int32_t));
      std::memcpy(from->collects.data(), bytes.data(), bytes.size());
      deliver(*from);
      break;
    default:
      return false;
  }
  return true;
}

// Adds a member to its group. When the last rank has joined, all ranks are told that the
// communicator is ready.
void Server::enter(const std::shared_ptr<Group>& group, int rank,
                   const std::shared_ptr<Member>& member) {
  member->group = group;
  member->rank = rank;
  group->members[static_cast<size_t>(rank)] = member;
  if (++group->arrived < group->size()) return;
  for (const auto& m : group->members)
    reply(*m, {MessageKind::kReady, m->rank, group->size(),
               static_cast<int32_t>(std::ranges::find(members_, m) - members_.begin())});
}

void Server::join(const std::shared_ptr<Member>& from, const Message& head) {
  if (all_ == nullptr) all_ = std::make_shared<Group>(head.a);
  enter(all_, head.b, from);
}

void Server::split(const std::shared_ptr<Member>& from, const Message& head) {
  Group& group = *members_[static_cast<size_t>(head.c)]->group;
  group.requests.push_back({head.a, head.b, from});
  if (static_cast<int>(group.requests.size()) == group.size()) finish_split(group);
}

// Called when every rank has asked: each colour becomes a group, ordered by the keys.
void Server::finish_split(Group& group) {
  std::map<int, std::vector<Group::Request>> by_color;
  for (Group::Request& r : std::exchange(group.requests, {})) by_color[r.color].push_back(r);
  for (auto& [color, all] : by_color) {
    std::ranges::sort(all, {}, &Group::Request::key);
    const auto made = std::make_shared<Group>(static_cast<int>(all.size()));
    for (size_t i = 0; i < all.size(); ++i) enter(made, static_cast<int>(i), all[i].member);
  }
}

void Server::meet(Member& from, const Message& head, std::vector<char> bytes) {
  Group& group = *from.group;
  Meeting& m = group.meetings[head.number];
  if (m.arrived++ == 0) {
    m.first = head;
    m.in.resize(group.members.size());
  }
  m.is_broken = m.is_broken || head.a != m.first.a || head.b != m.first.b || head.c != m.first.c ||
                head.bytes != m.first.bytes;
  m.in[static_cast<size_t>(from.rank)] = std::move(bytes);
  if (m.is_broken) reply(from, {MessageKind::kBroken});
  if (m.arrived < group.size()) return;
  if (!m.is_broken) {
    const std::vector<std::vector<char>> out = results_of(m);
    for (const auto& member : group.members) {
      const std::vector<char>& result = out[static_cast<size_t>(member->rank)];
      reply(*member, {.kind = MessageKind::kDone, .bytes = result.size()}, result.data());
    }
  }
  group.meetings.erase(head.number);
}

// Sends the messages that the member waits for, once all of them are there.
void Server::deliver(Member& to) {
  if (to.collects.empty()) return;
  std::map<int32_t, size_t> wanted;
  for (const int32_t sender : to.collects) ++wanted[sender];
  for (const auto& [sender, count] : wanted)
    if (to.group->mail[{sender, to.rank}].size() < count) return;
  for (const int32_t sender : std::exchange(to.collects, {})) {
    auto& box = to.group->mail[{sender, to.rank}];
    reply(to, {.kind = MessageKind::kDone, .bytes = box.front().size()}, box.front().data());
    box.pop_front();
  }
}

// The server threads of this process.
struct Servers {
  std::mutex mutex;
  std::atomic<bool> stop{false};
  std::list<std::thread> threads;
  int last = 0;
  ~Servers() {
    stop = true;
    for (std::thread& t : threads) t.join();
  }
};
Servers& servers() {
  static Servers all;
  return all;
}

// The address is in the abstract namespace, where its length is part of the name.
std::pair<sockaddr_un, socklen_t> address_of(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

}  // namespace

std::string start_nccl_server() {
  Servers& all = servers();
  std::lock_guard lock(all.mutex);
  const std::string name =
      "shardwise-fake-nccl-" + std::to_string(getpid()) + "-" + std::to_string(++all.last);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto [address, length] = address_of(name);
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      listen(fd, SOMAXCONN) != 0)
    return {};
  all.threads.emplace_back([fd, &stop = all.stop] { Server(fd).serve(stop); });
  return name;
}

int connect_to_nccl_server(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto [address, length] = address_of(name);
  if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace shw::fakes
