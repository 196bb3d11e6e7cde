#include "runtime/mpi/mpi_transport.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/mpi/plugin.h"
#include "support/open_plugin.h"

namespace shw::runtime {
namespace {

Status unavailable(std::string message, SourceLoc loc = SourceLoc::current()) {
  return {Code::kUnavailable, std::move(message), loc};
}

constexpr PluginKind kPlugin = {"MPI",
                                "libshardwise_mpi.so",
                                SHW_MPI_PLUGIN_SYMBOL,
                                "where MPI is installed",
                                SHW_MPI_PLUGIN_VERSION,
                                sizeof(shw_mpi_plugin)};

// A thread that opens and closes the connection. MPI must be finalised by the thread that
// initialised it, and both operations wait for other processes without a time-out. A thread that
// hangs in one of them is abandoned.
class Keeper {
 public:
  explicit Keeper(const shw_mpi_plugin& mpi) : mpi_(mpi) {}

  // DEADLINE_EXCEEDED: time-out. UNAVAILABLE: the reason why MPI does not start.
  static Result<shw_mpi_connection*> open(const std::shared_ptr<Keeper>& keeper, Timeout timeout) {
    std::thread([keeper] { keeper->serve(); }).detach();
    std::unique_lock lock(keeper->mutex_);
    if (!keeper->wait(lock, timeout, [&] { return keeper->state_ != State::kOpening; })) {
      keeper->state_ = State::kGivenUp;
      return Status(Code::kDeadlineExceeded, "MPI did not start within " + seconds_text(timeout) +
                                                 ": not every process of the job has joined");
    }
    if (keeper->connection_ == nullptr)
      return unavailable("MPI does not start: " + std::string(keeper->why_));
    return keeper->connection_;
  }
  void close(bool orderly, Timeout timeout) {
    std::unique_lock lock(mutex_);
    orderly_ = orderly;
    state_ = State::kClosing;
    changed_.notify_all();
    (void)wait(lock, timeout, [&] { return state_ == State::kClosed; });
  }

 private:
  enum class State { kOpening, kOpen, kGivenUp, kClosing, kClosed };

  template <class Predicate>
  bool wait(std::unique_lock<std::mutex>& lock, Timeout timeout, Predicate done) {
    if (timeout > Timeout::zero()) return changed_.wait_for(lock, timeout, done);
    changed_.wait(lock, done);
    return true;
  }

  void serve() {
    shw_mpi_connection* connection = nullptr;
    if (mpi_.open(&connection, why_, sizeof why_) != 0) connection = nullptr;
    std::unique_lock lock(mutex_);
    connection_ = connection;
    if (state_ == State::kOpening) state_ = State::kOpen;
    changed_.notify_all();
    if (connection == nullptr) return;
    changed_.wait(lock, [&] { return state_ == State::kClosing || state_ == State::kGivenUp; });
    const bool orderly = orderly_ && state_ == State::kClosing;
    lock.unlock();
    mpi_.close(connection, orderly ? 1 : 0);
    lock.lock();
    state_ = State::kClosed;
    changed_.notify_all();
  }

  const shw_mpi_plugin& mpi_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kOpening;
  shw_mpi_connection* connection_ = nullptr;
  bool orderly_ = false;
  char why_[512] = "";
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(const shw_mpi_plugin& mpi, std::shared_ptr<Keeper> keeper,
               shw_mpi_connection* connection, Timeout timeout)
      : mpi_(mpi), keeper_(std::move(keeper)), connection_(connection), timeout_(timeout) {}
  ~MpiTransport() override { close(false); }
  int64_t rank() const override { return mpi_.rank(connection_); }
  int64_t size() const override { return mpi_.size_of_world(connection_); }
  int64_t rank_on_host() const override { return mpi_.rank_on_host(connection_); }
  int32_t max_tag() const override { return mpi_.max_tag(connection_); }

  Status send(int64_t to, int32_t tag, const void* data, int64_t bytes, Request* request) override {
    return check("sending to", to,
                 mpi_.send(connection_, static_cast<int32_t>(to), tag, data, bytes, request));
  }
  Status receive(int64_t from, int32_t tag, void* data, int64_t bytes, Request* request) override {
    return check("receiving from", from,
                 mpi_.receive(connection_, static_cast<int32_t>(from), tag, data, bytes, request));
  }
  Status test(Request* request, int64_t* bytes) override {
    return check("exchanging messages", -1, mpi_.test(connection_, request, bytes));
  }
  void cancel(Request* request) override { mpi_.cancel(connection_, request); }
  Result<bool> probe(int32_t tag, int64_t* from, int64_t* bytes) override {
    int found = 0;
    int32_t sender = 0;
    SHW_RETURN_IF_ERROR(
        check("looking for messages", -1, mpi_.probe(connection_, tag, &found, &sender, bytes)));
    *from = sender;
    return found != 0;
  }
  void close(bool orderly) override {
    if (connection_ != nullptr) keeper_->close(orderly, timeout_);
    connection_ = nullptr;
  }

 private:
  Status check(const char* what, int64_t peer, int code) const {
    if (code == 0) return {};
    char text[512] = "";
    mpi_.error_text(code, text, sizeof text);
    return unavailable("MPI failed in " + std::string(what) +
                       (peer < 0 ? "" : " rank " + std::to_string(peer)) + ": " + text);
  }

  const shw_mpi_plugin& mpi_;
  const std::shared_ptr<Keeper> keeper_;
  shw_mpi_connection* connection_;
  const Timeout timeout_;
};

}  // namespace

Result<std::unique_ptr<Transport>> open_mpi_transport(const std::string& path, Timeout timeout) {
  SHW_ASSIGN_OR_RETURN(const void* table, open_plugin(kPlugin, path));
  const auto* mpi = static_cast<const shw_mpi_plugin*>(table);
  const auto keeper = std::make_shared<Keeper>(*mpi);
  SHW_ASSIGN_OR_RETURN(shw_mpi_connection * connection, Keeper::open(keeper, timeout));
  return std::unique_ptr<Transport>(
      std::make_unique<MpiTransport>(*mpi, keeper, connection, timeout));
}

}  // namespace shw::runtime
