#include "sharded.h"

#include <algorithm>
#include <shardwise/shardwise.hpp>
#include <string_view>
#include <vector>

namespace host {
namespace {

namespace sw = shardwise;

// ---- What the host gives: its memory and its threads ----

void* take(void* memory, size_t size, size_t alignment) {
  return static_cast<Memory*>(memory)->take(size, alignment);
}

void give_back(void* memory, void* block, size_t size, size_t alignment) {
  static_cast<Memory*>(memory)->give_back(block, size, alignment);
}

std::int32_t submit(void* threads, shw_task_fn run, void* task) {
  static_cast<Threads*>(threads)->submit([run, task] { run(task); });
  return 0;
}

sw::Context make_context(Memory& memory, Threads& threads) {
  sw::ContextOptions options;
  options.alloc = take;
  options.free = give_back;
  options.alloc_user = &memory;
  options.submit = submit;
  options.submit_user = &threads;
  return sw::Context::create(&options);
}

// ---- The tape as a graph ----

sw::Value translate(const Operation& op, const std::vector<sw::Value>& values) {
  const auto operand = [&](std::size_t index) { return values[op.operands[index]]; };
  switch (op.kind) {
    case Kind::kMatmul:
      return sw::matmul(operand(0), operand(1));
    case Kind::kTranspose:
      return sw::t(operand(0));
    case Kind::kAdd:
      return operand(0) + operand(1);
    case Kind::kSub:
      return operand(0) - operand(1);
    case Kind::kMul:
      return operand(0) * operand(1);
    case Kind::kScale:
      return operand(0) * op.factor;
    case Kind::kRelu:
      return sw::relu(operand(0));
    case Kind::kReluGradient:
      return sw::op("threshold_backward", {operand(0), operand(1)}, {sw::Attr("threshold", 0)});
    case Kind::kMean:
      return sw::mean(operand(0));
    case Kind::kSumRows:
      return sw::sum(operand(0), {0});
    default:
      return {};
  }
}

sw::Blob make_graph(const sw::Context& context, const Tape& tape) {
  sw::Graph graph = sw::Graph::create(context);
  std::vector<sw::Value> values;
  for (const Operation& op : tape.operations()) {
    graph.set_phase(op.backward ? SHW_PHASE_BACKWARD : SHW_PHASE_FORWARD);
    if (op.kind == Kind::kInput)
      values.push_back(graph.input(op.name.c_str(), SHW_DTYPE_F32, op.shape));
    else if (op.kind == Kind::kParameter)
      values.push_back(graph.state_parameter(op.name.c_str(), SHW_DTYPE_F32, op.shape));
    else
      values.push_back(translate(op, values));
  }
  graph.result("loss", values[tape.loss()]);
  for (const Update& update : tape.updates())
    graph.update_in_place(values[update.parameter], values[update.value]);
  return graph.finish();
}

shw_tensor lend(const Tensor& tensor) { return sw::tensor(tensor.data(), tensor.shape()); }

}  // namespace

struct Sharded::State {
  sw::Context context;
  sw::Runner runner;
};

Sharded::Sharded(Memory& memory, Threads& threads, const Tape& tape, const Tensors& parameters,
                 int dp, int tp)
    : memory_(memory), tape_(tape) {
  sw::Context context = make_context(memory, threads);
  const shw_mesh_axis mesh[] = {{"dp", dp}, {"tp", tp}};
  sw::CompileOptions options;
  options.set_mesh(mesh);
  options.num_threads = 4;
  sw::Plan plan = sw::Plan::compile(context, make_graph(context, tape), options);
  sw::Runner runner = sw::Runner::create(std::move(plan));
  for (const auto& [name, tensor] : parameters)
    runner.set_state(("param." + name).c_str(), lend(tensor));
  state_ = std::make_unique<State>(State{std::move(context), std::move(runner)});
}

Sharded::~Sharded() = default;

float Sharded::step(const Tensors& inputs) {
  std::vector<std::string> names;
  std::vector<sw::NamedTensor> lent;
  for (const auto& [name, tensor] : inputs) names.push_back("input." + name);
  for (const auto& [name, tensor] : inputs)
    lent.push_back({names[lent.size()].c_str(), lend(tensor)});
  float loss = 0;
  state_->runner.run("step", lent, {{"output.loss", sw::tensor(&loss, {})}});
  return loss;
}

Tensor Sharded::parameter(const std::string& name) const {
  const auto& all = tape_.operations();
  const auto op = std::find_if(all.begin(), all.end(),
                               [&](const Operation& each) { return each.name == name; });
  const Tensor tensor(memory_, op->shape);
  sw::Span<float> values(tensor.data(), tensor.size());
  state_->runner.read_state(("param." + name).c_str(), values);
  return tensor;
}

std::string Sharded::report() const {
  const sw::Blob text = state_->runner.plan().to_text();
  return std::string(text.text());
}

}  // namespace host
