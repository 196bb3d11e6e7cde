#include "runtime/bench/collectives.h"

#include <algorithm>
#include <cstring>

#include "runtime/buffer.h"
#include "runtime/collective/local.h"
#include "runtime/half.h"
#include "runtime/on_each_rank.h"

namespace shw::runtime {
namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllReduce, CollectiveKind::kAllToAll,
                                     CollectiveKind::kPermute};

// Small numbers, so that sums are exact in every dtype and order.
constexpr int64_t kPeriod = 5;
int64_t value_of(int64_t member, int64_t element) { return (7 * member + element) % kPeriod; }

bool can_store(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
    case Dtype::kF64:
    case Dtype::kF16:
    case Dtype::kBF16:
    case Dtype::kI32:
    case Dtype::kI64:
      return true;
    default:
      return false;
  }
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}
void store_number(std::byte* at, Dtype dtype, int64_t value) {
  const auto number = static_cast<float>(value);
  switch (dtype) {
    case Dtype::kF64:
      return store(at, static_cast<double>(value));
    case Dtype::kF16:
      return store(at, f32_to_f16(number));
    case Dtype::kBF16:
      return store(at, f32_to_bf16(number));
    case Dtype::kI32:
      return store(at, static_cast<int32_t>(value));
    case Dtype::kI64:
      return store(at, value);
    default:
      return store(at, number);
  }
}

// Iterates over the elements of an operand or a result, with the value of each.
template <class F>
std::vector<std::byte> numbers(Dtype dtype, int64_t elements, F&& value) {
  const int64_t bytes = dtype_size(dtype);
  std::vector<std::byte> made(static_cast<size_t>(elements * bytes));
  for (int64_t i = 0; i < elements; ++i) store_number(made.data() + i * bytes, dtype, value(i));
  return made;
}

// A collective of one size, from the point of view of one member.
struct Exchange {
  CollectiveKind kind;
  Dtype dtype;
  int64_t count, members, member;

  bool gathers() const { return kind == CollectiveKind::kAllGather; }
  bool has_blocks() const {
    return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll;
  }
  int64_t in() const { return has_blocks() ? members * count : count; }
  int64_t out() const {
    return gathers() || kind == CollectiveKind::kAllToAll ? members * count : count;
  }
  // Permute: sends to the next member and receives from the previous one.
  int64_t source() const { return (member + members - 1) % members; }
  int64_t target() const { return (member + 1) % members; }
  CollectiveSpec spec() const {
    const bool permutes = kind == CollectiveKind::kPermute;
    return {kind, ReduceOp::kSum, dtype, count, permutes ? source() : 0, permutes ? target() : 0};
  }

  std::vector<std::byte> operand() const {
    return numbers(dtype, in(), [&](int64_t i) { return value_of(member, i); });
  }
  std::vector<std::byte> result() const {
    int64_t sums[kPeriod] = {};
    for (int64_t m = 0; m < members; ++m)
      for (int64_t j = 0; j < kPeriod; ++j) sums[j] += value_of(m, j);
    return numbers(dtype, out(), [&](int64_t i) -> int64_t {
      switch (kind) {
        case CollectiveKind::kAllReduce:
          return sums[i % kPeriod];
        case CollectiveKind::kReduceScatter:
          return sums[(member * count + i) % kPeriod];
        case CollectiveKind::kAllToAll:
          return value_of(i / count, member * count + i % count);
        case CollectiveKind::kAllGather:
          return value_of(i / count, i % count);
        default:
          return value_of(source(), i);
      }
    });
  }
};

// One rank, with memory for the largest size.
struct Place {
  std::shared_ptr<Device> device;
  std::unique_ptr<ChannelProvider> provider;
  std::unique_ptr<Channel> channel;
  std::unique_ptr<Fault> fault = std::make_unique<Fault>();
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Event> begin, end;
  BufferRef in, out, workspace;
  std::unique_ptr<PreparedKernel> kernel;  // for the current size
  std::vector<void*> buffers;
};

int64_t count_of(CollectiveKind kind, int64_t bytes, Dtype dtype, int64_t members) {
  const int64_t elements = bytes / dtype_size(dtype);
  const bool is_part = kind == CollectiveKind::kAllGather ||
                       kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll;
  return is_part ? elements / members : elements;
}

class Bench {
 public:
  explicit Bench(const CollectiveBenchOptions& options)
      : options_(options), backend_(options.backend.or_cpu()) {}

  Result<CollectiveBenchResult> run() {
    SHW_RETURN_IF_ERROR(check());
    const Mesh& mesh = options_.mesh;
    SHW_RETURN_IF_ERROR(find_axes());
    SHW_RETURN_IF_ERROR(make_places(mesh));
    const Device& device = *places_[0].device;
    CollectiveBenchResult result{std::string(device.device_class().name),
                                 device.model(),
                                 options_.dtype,
                                 mesh.num_ranks(),
                                 members_,
                                 options_.warm_up,
                                 options_.repeats,
                                 {}};
    for (const CollectiveKind kind : kKinds) {
      CollectiveTimes& times = result.collectives.emplace_back(CollectiveTimes{kind, {}});
      int64_t last = 0;
      for (int64_t bytes = options_.min_bytes; bytes <= options_.max_bytes;
           bytes *= options_.factor) {
        const int64_t count = count_of(kind, bytes, options_.dtype, members_);
        if (count > last) {
          SHW_ASSIGN_OR_RETURN(times.sizes.emplace_back(), time(kind, count));
        }
        last = count;
        if (bytes > options_.max_bytes / options_.factor) break;
      }
    }
    return result;
  }

 private:
  Status check() const {
    const auto& o = options_;
    if (o.mesh.rank() == 0) return invalid_argument("there is no mesh");
    if (o.min_bytes < 1 || o.max_bytes < o.min_bytes || o.factor < 2)
      return invalid_argument(
          "sizes begin at 1 byte or more, end no lower, and grow by a factor of 2 or more");
    if (o.repeats < 1 || o.warm_up < 0)
      return invalid_argument("a benchmark needs one run or more, and no fewer than 0 to warm up");
    if (!can_store(o.dtype))
      return invalid_argument("collectives are timed in f32, f64, f16, bf16, i32 or i64, not in " +
                              std::string(dtype_name(o.dtype)));
    return {};
  }

  Status find_axes() {
    const Mesh& mesh = options_.mesh;
    std::vector<std::string> unknown = options_.group;
    for (int d = 0; d < mesh.rank(); ++d) {
      if (!options_.group.empty() && std::erase(unknown, mesh.name(d)) == 0) continue;
      axes_.push_back(static_cast<uint8_t>(d));
    }
    if (!unknown.empty())
      return invalid_argument("the mesh " + mesh.to_string() + " has no dim '" + unknown[0] + "'");
    return {};
  }

  Status make_places(const Mesh& mesh) {
    const auto hub = LocalHub::create(mesh);
    for (int64_t r = 0; r < mesh.num_ranks(); ++r) {
      Place& p = places_.emplace_back();
      p.device = backend_.device(r);
      if (!p.device->can().computes)
        return failed_precondition("a " + std::string(p.device->device_class().name) +
                                   " device moves no data");
      SHW_ASSIGN_OR_RETURN(p.provider, backend_.connect(hub->provider(r), *p.device));
      SHW_ASSIGN_OR_RETURN(p.channel, p.provider->channel(axes_));
      members_ = p.channel->size();
      SHW_ASSIGN_OR_RETURN(p.stream, p.device->create_stream(
                                         {.fault = p.fault.get(),
                                          .capacity = options_.warm_up + options_.repeats + 16}));
      SHW_ASSIGN_OR_RETURN(p.begin, p.device->create_event({.timing = true}));
      SHW_ASSIGN_OR_RETURN(p.end, p.device->create_event({.timing = true}));
      const MemorySpec spec{options_.max_bytes + int64_t{64}, 256, MemoryKind::kRegistered};
      SHW_ASSIGN_OR_RETURN(p.in, Buffer::allocate(p.device, spec));
      SHW_ASSIGN_OR_RETURN(p.out, Buffer::allocate(p.device, spec));
    }
    return {};
  }

  Status prepare(Place& p, const Exchange& exchange) {
    SHW_ASSIGN_OR_RETURN(p.kernel, p.channel->prepare(exchange.spec()));
    p.workspace = nullptr;
    if (p.kernel->workspace_bytes() > 0) {
      SHW_ASSIGN_OR_RETURN(p.workspace, Buffer::allocate(p.device, {p.kernel->workspace_bytes()}));
    }
    p.buffers = {p.in->data(), p.out->data(),
                 p.workspace == nullptr ? nullptr : p.workspace->data()};
    const std::vector<std::byte> operand = exchange.operand();
    const std::vector<std::byte> nothing(
        static_cast<size_t>(exchange.out()) * static_cast<size_t>(dtype_size(exchange.dtype)),
        std::byte{0xff});
    SHW_RETURN_IF_ERROR(write(p, *p.in, operand));
    return write(p, *p.out, nothing);
  }
  static Status write(Place& p, const Buffer& to, const std::vector<std::byte>& bytes) {
    return p.device->copy(to.data(), bytes.data(), static_cast<int64_t>(bytes.size()),
                          CopyKind::kHostToDevice);
  }

  Exchange exchange_of(CollectiveKind kind, int64_t count, const Place& p) const {
    return {kind, options_.dtype, count, members_, p.channel->member()};
  }

  // Every rank enqueues all launches; then the call waits for all of them.
  Status launch_all() {
    Status first = on_each_rank(
        static_cast<int64_t>(places_.size()), *places_[0].device, [&](int64_t rank) -> Status {
          Place& p = places_[static_cast<size_t>(rank)];
          for (int64_t i = 0; i < options_.warm_up + options_.repeats; ++i) {
            if (i == options_.warm_up) p.stream->record(*p.begin);
            p.kernel->launch(*p.stream, p.buffers.data());
          }
          p.stream->record(*p.end);
          p.stream->flush();
          return p.fault->status();
        });
    if (!first.ok())
      for (Place& p : places_) p.provider->abort(first);
    for (Place& p : places_)
      if (Status s = p.stream->synchronize(); first.ok()) first = std::move(s);
    return first;
  }

  Result<CollectiveTime> time(CollectiveKind kind, int64_t count) {
    for (Place& p : places_) SHW_RETURN_IF_ERROR(prepare(p, exchange_of(kind, count, p)));
    SHW_RETURN_IF_ERROR(launch_all());
    CollectiveTime t;
    const Exchange one = exchange_of(kind, count, places_[0]);
    t.count = count;
    t.bytes = std::max(one.in(), one.out()) * dtype_size(options_.dtype);
    double seconds = 0;
    for (Place& p : places_) {
      SHW_ASSIGN_OR_RETURN(const auto took, p.end->time_since(*p.begin));
      seconds += std::chrono::duration<double>(took).count();
      SHW_ASSIGN_OR_RETURN(const int64_t wrong, wrong_of(p, exchange_of(kind, count, p)));
      t.wrong += wrong;
    }
    t.seconds =
        seconds / static_cast<double>(places_.size()) / static_cast<double>(options_.repeats);
    if (t.seconds > 0) t.algorithm_bandwidth = static_cast<double>(t.bytes) / t.seconds;
    t.bus_bandwidth = t.algorithm_bandwidth * bus_factor(kind, members_);
    return t;
  }

  Result<int64_t> wrong_of(Place& p, const Exchange& exchange) const {
    const std::vector<std::byte> want = exchange.result();
    std::vector<std::byte> got(want.size());
    SHW_RETURN_IF_ERROR(p.device->copy(got.data(), p.out->data(), static_cast<int64_t>(got.size()),
                                       CopyKind::kDeviceToHost));
    const auto size = static_cast<size_t>(dtype_size(exchange.dtype));
    int64_t wrong = 0;
    for (size_t at = 0; at < want.size(); at += size)
      wrong += std::memcmp(got.data() + at, want.data() + at, size) == 0 ? 0 : 1;
    return wrong;
  }

  const CollectiveBenchOptions& options_;
  const RankBackend backend_;
  std::vector<uint8_t> axes_;
  int64_t members_ = 1;
  std::vector<Place> places_;
};

}  // namespace

double bus_factor(CollectiveKind kind, int64_t group_size) {
  const auto n = static_cast<double>(group_size);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return (n - 1) / n;
    default:
      return 1;
  }
}

int64_t CollectiveBenchResult::wrong() const {
  int64_t sum = 0;
  for (const CollectiveTimes& c : collectives)
    for (const CollectiveTime& t : c.sizes) sum += t.wrong;
  return sum;
}

Result<CollectiveBenchResult> bench_collectives(const CollectiveBenchOptions& options) {
  return Bench(options).run();
}

}  // namespace shw::runtime
