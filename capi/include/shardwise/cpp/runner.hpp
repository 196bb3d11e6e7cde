// All ranks of a virtual world as one: whole tensors in, whole tensors out. For programs that
// need no more than that, and as an example of the calls below it. Runs after the first of an entry
// take no new memory for tensors.
#ifndef SHARDWISE_CPP_RUNNER_HPP_
#define SHARDWISE_CPP_RUNNER_HPP_

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "shardwise/cpp/runtime.hpp"

namespace shardwise {
inline namespace SHARDWISE_MODE {

// A port and the whole tensor for it, both lent.
struct NamedTensor {
  const char* name;
  shw_tensor tensor;
};

class Runner {
 public:
  // A world and executors for all ranks. The plan may be destroyed before the runner.
  static Returned<Runner> create(const Context& context, Plan plan,
                                 const shw_executor_options* options = nullptr) {
    Runner runner;
    runner.plan_ = std::move(plan);
    shw_status* status = runner.start(context, options);
    return detail::give(status, std::move(runner));
  }

  const Plan& plan() const noexcept { return plan_; }
  std::vector<Executor>& executors() noexcept { return executors_; }

  // Writes and reads a tensor that the executors keep: "param.w".
  Done set_state(const char* name, const shw_tensor& whole) {
    return detail::give(write_state(name, whole));
  }
  template <class C>
  Done read_state(const char* name, C& values) const {
    std::vector<Buffer> pieces;
    std::size_t port = SHW_NONE;
    shw_status* status = state_pieces(name, &port, &pieces);
    if (status == nullptr) status = read_whole(port, raw_of(pieces), values);
    return detail::give(status);
  }

  // One run on all ranks, to its end. `inputs` are all that the entry takes, in any order.
  Done run(const char* entry, Span<const NamedTensor> inputs) {
    std::size_t number = SHW_NONE;
    shw_status* status = shw_plan_find_entry(plan_.get(), entry, &number);
    if (status == nullptr) status = run_entry(number, inputs);
    return detail::give(status);
  }

  // The elements of an output of the last run of an entry, whole and row-major.
  template <class C>
  Done read(const char* entry, const char* output, C& values) const {
    std::size_t number = SHW_NONE;
    std::size_t port = SHW_NONE;
    std::vector<shw_buffer*> pieces;
    shw_status* status = shw_plan_find_entry(plan_.get(), entry, &number);
    if (status == nullptr) status = shw_plan_find_port(plan_.get(), number, output, &port);
    if (status == nullptr) status = output_pieces(number, port, &pieces);
    if (status == nullptr) status = read_whole(port, pieces, values);
    return detail::give(status);
  }

 private:
  // One rank's buffers for an entry.
  struct Pieces {
    std::vector<Buffer> inputs;
    std::vector<shw_buffer*> given;  // those of this run; the library says which one is missing
    std::vector<Buffer> outputs;
  };

  Runner() = default;

  shw_status* start(const Context& context, const shw_executor_options* options) {
    shw_world* world = nullptr;
    if (shw_status* status =
            shw_world_create_virtual(context.get(), plan_.num_ranks(), nullptr, &world))
      return status;
    world_ = World(world);
    for (std::int32_t rank = 0; rank < plan_.num_ranks(); ++rank) {
      shw_executor* executor = nullptr;
      if (shw_status* status = shw_executor_create(plan_.get(), world, rank, options, &executor))
        return status;
      executors_.emplace_back(executor);
    }
    return nullptr;
  }

  shw_status* state_pieces(const char* name, std::size_t* port, std::vector<Buffer>* pieces) const {
    if (shw_status* status = shw_plan_find_port(plan_.get(), SHW_NONE, name, port)) return status;
    for (const Executor& executor : executors_) {
      shw_buffer* piece = nullptr;
      if (shw_status* status = shw_executor_get_state(executor.get(), *port, &piece)) return status;
      pieces->emplace_back(piece);
    }
    return nullptr;
  }

  shw_status* write_state(const char* name, const shw_tensor& whole) {
    std::vector<Buffer> pieces;
    std::size_t port = SHW_NONE;
    if (shw_status* status = state_pieces(name, &port, &pieces)) return status;
    for (std::size_t rank = 0; rank < pieces.size(); ++rank)
      if (shw_status* status = shw_plan_shard_into(
              plan_.get(), port, static_cast<std::int32_t>(rank), &whole, pieces[rank].get()))
        return status;
    return nullptr;
  }

  static std::vector<shw_buffer*> raw_of(const std::vector<Buffer>& buffers) {
    std::vector<shw_buffer*> raw;
    raw.reserve(buffers.size());
    for (const Buffer& buffer : buffers) raw.push_back(buffer.get());
    return raw;
  }

  template <class C>
  shw_status* read_whole(std::size_t port, const std::vector<shw_buffer*>& pieces,
                         C& values) const {
    shw_buffer* whole = nullptr;
    if (shw_status* status =
            shw_plan_gather(plan_.get(), port, pieces.data(), pieces.size(), &whole))
      return status;
    const Buffer owned(whole);
    return shw_buffer_read(whole, std::data(values),
                           std::size(values) * sizeof(*std::data(values)));
  }

  shw_status* output_pieces(std::size_t entry, std::size_t port,
                            std::vector<shw_buffer*>* pieces) const {
    shw_plan_entry info = detail::defaults(shw_plan_entry_init);
    if (shw_status* status = shw_plan_get_entry(plan_.get(), entry, &info)) return status;
    const auto of_entry = pieces_.find(entry);
    for (std::size_t i = 0; i < info.num_outputs && of_entry != pieces_.end(); ++i)
      if (info.outputs[i] == port)
        for (const Pieces& of_rank : of_entry->second) pieces->push_back(of_rank.outputs[i].get());
    return nullptr;  // where there is none, shw_plan_gather() says so
  }

  shw_status* run_entry(std::size_t entry, Span<const NamedTensor> inputs) {
    shw_plan_entry info = detail::defaults(shw_plan_entry_init);
    if (shw_status* status = shw_plan_get_entry(plan_.get(), entry, &info)) return status;
    std::vector<Pieces>& pieces = pieces_[entry];
    pieces.resize(executors_.size());
    for (Pieces& of_rank : pieces) {
      of_rank.inputs.resize(info.num_inputs);
      of_rank.outputs.resize(info.num_outputs);
      of_rank.given.assign(info.num_inputs, nullptr);
    }
    for (const NamedTensor& input : inputs)  // a name that the entry does not have is an error
      if (shw_status* status = place(entry, info, input, &pieces)) return status;
    shw_status* status = run_ranks(entry, &pieces);
    if (status == nullptr) return nullptr;
    for (Executor& executor : executors_) executor.reset();
    pieces_.erase(entry);  // an output of a failed run may be missing
    return status;
  }

  // Cuts an input, into the pieces of the run before where there was one.
  shw_status* place(std::size_t entry, const shw_plan_entry& info, const NamedTensor& input,
                    std::vector<Pieces>* pieces) {
    std::size_t port = SHW_NONE;
    if (shw_status* status = shw_plan_find_port(plan_.get(), entry, input.name, &port))
      return status;
    for (std::size_t i = 0; i < info.num_inputs; ++i) {
      if (info.inputs[i] != port) continue;
      for (std::size_t rank = 0; rank < pieces->size(); ++rank) {
        std::vector<Buffer>& of_rank = (*pieces)[rank].inputs;
        shw_buffer* made = of_rank[i].get();
        shw_status* status =
            made != nullptr
                ? shw_plan_shard_into(plan_.get(), port, static_cast<std::int32_t>(rank),
                                      &input.tensor, made)
                : shw_plan_shard(plan_.get(), port, static_cast<std::int32_t>(rank), &input.tensor,
                                 nullptr, &made);
        if (status != nullptr) return status;
        if (!of_rank[i]) of_rank[i] = Buffer(made);
        (*pieces)[rank].given[i] = made;
      }
      return nullptr;
    }
    return shw_plan_shard_into(plan_.get(), port, 0, &input.tensor,
                               nullptr);  // no input: the library's words for it
  }

  shw_status* run_ranks(std::size_t entry, std::vector<Pieces>* pieces) {
    std::vector<Event> events;
    Status first;
    for (std::size_t rank = 0; rank < executors_.size() && first.ok(); ++rank) {
      Pieces& of_rank = (*pieces)[rank];
      std::vector<shw_buffer*> out;
      for (const Buffer& buffer : of_rank.outputs) out.push_back(buffer.get());
      Run run(entry);
      run.set_inputs(of_rank.given).set_outputs(out);
      shw_event* done = nullptr;
      first = Status(shw_executor_enqueue(executors_[rank].get(), &run, &done));
      if (!first.ok()) {
        executors_[rank].abort();  // ranks that run would wait for this one
        break;
      }
      events.emplace_back(done);
      for (std::size_t i = 0; i < out.size(); ++i)
        if (!of_rank.outputs[i]) of_rank.outputs[i] = Buffer(out[i]);
    }
    // Of several errors the one that tells most: not that another rank failed.
    for (const Event& event : events) {
      Status status(shw_event_wait(event.get(), -1));
      const bool tells = first.ok() || first.code() == SHW_ABORTED || first.code() == SHW_CANCELLED;
      if (!status.ok() && tells) first = std::move(status);
    }
    return first.release();
  }

  Plan plan_;
  World world_;
  std::vector<Executor> executors_;
  std::map<std::size_t, std::vector<Pieces>> pieces_;
};

}  // namespace SHARDWISE_MODE
}  // namespace shardwise

#endif  // SHARDWISE_CPP_RUNNER_HPP_
