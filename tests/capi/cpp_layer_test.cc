// The C++ layer. Built twice, from the same sources: with exceptions, and without
// (SHARDWISE_RESULTS, -fno-exceptions).
//
//   cpp_layer PLAN.swplan     where to save the plan of examples/c/train.c, which equals that of C
//   byte by byte
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "shardwise/shardwise.hpp"

namespace sw = shardwise;

shw_code code_of_a_wrong_plan();  // in cpp_layer_modes.cc

namespace {

int g_failures = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void expect(bool good, const char* what, int line) {
  if (good) return;
  std::printf("line %d: %s\n", line, what);
  ++g_failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

// ---- Both ways to fail, told alike: what a call gives, or the code and message of its error ----

template <class T>
struct Outcome {
  shw_code code = SHW_OK;
  std::string message;
  std::unique_ptr<T> value;
};

#ifdef SHARDWISE_RESULTS
template <class Call>
auto attempt(const Call& call) {
  auto result = call();
  if constexpr (std::is_same_v<decltype(result), sw::Status>) {
    return Outcome<int>{result.code(), result.message(), nullptr};
  } else {
    using T = std::remove_reference_t<decltype(*result)>;
    Outcome<T> outcome{result.status().code(), result.status().message(), nullptr};
    if (result.ok()) outcome.value = std::make_unique<T>(*std::move(result));
    return outcome;
  }
}
#else
template <class Call>
auto attempt(const Call& call) {
  using T = decltype(call());
  Outcome<std::conditional_t<std::is_void_v<T>, int, T>> outcome;
  try {
    if constexpr (std::is_void_v<T>)
      call();
    else
      outcome.value = std::make_unique<T>(call());
  } catch (const sw::Error& error) {
    outcome.code = error.code();
    outcome.message = error.what();
  }
  return outcome;
}
#endif

// Returns the value of a call that must succeed.
template <class Call>
auto must(const Call& call, int line) {
  auto outcome = attempt(call);
  if (outcome.code != SHW_OK || outcome.value == nullptr) {
    std::printf("line %d: %s\n", line, outcome.message.c_str());
    std::exit(1);
  }
  return std::move(*outcome.value);
}
#define MUST(...) must([&] { return __VA_ARGS__; }, __LINE__)
#define CODE_OF(...) attempt([&] { return __VA_ARGS__; }).code

// ---- The model of examples/c/train.c ----

constexpr std::int64_t kBatch = 32, kInputs = 16, kHidden = 64, kOutputs = 8;
const shw_mesh_axis kMesh[] = {{"dp", 2}, {"tp", 2}};

sw::Blob build_training(const sw::Context& context) {
  sw::Graph graph = MUST(sw::Graph::create(context));
  const sw::Value w1 = graph.state_parameter("w1", SHW_DTYPE_F32, {kInputs, kHidden});
  const sw::Value w2 = graph.state_parameter("w2", SHW_DTYPE_F32, {kHidden, kOutputs});
  const sw::Value x = graph.input("x", SHW_DTYPE_F32, {kBatch, kInputs});
  const sw::Value target = graph.input("target", SHW_DTYPE_F32, {kBatch, kOutputs});

  graph.set_phase(SHW_PHASE_FORWARD);
  const sw::Value a = relu(matmul(x, w1));
  const sw::Value error = matmul(a, w2) - target;
  graph.result("loss", mean(error * error));

  graph.set_phase(SHW_PHASE_BACKWARD);
  const sw::Value dy = error * (2.0 / (kBatch * kOutputs));
  const sw::Value dw2 = matmul(t(a), dy);
  const sw::Value w2_t = t(w2);
  const sw::Value da = matmul(dy, w2_t);
  const sw::Value dh = sw::op("threshold_backward", {da, a}, {sw::Attr("threshold", 0)});
  const sw::Value dw1 = matmul(t(x), dh);
  graph.update_in_place(w1, w1 - dw1 * 0.5);
  graph.update_in_place(w2, w2 - dw2 * 0.5);
  EXPECT(graph.error().ok());
  return MUST(graph.finish());
}

// ---- A small model, whose results are exact: y = relu(x w), w -= x^T y ----

constexpr std::int64_t kX[] = {8, 4}, kW[] = {4, 16}, kY[] = {8, 16};

sw::Blob build_small(const sw::Context& context) {
  sw::Graph graph = MUST(sw::Graph::create(context));
  const sw::Value x = graph.input("x", SHW_DTYPE_F32, kX);
  const sw::Value w = graph.state_parameter("w", SHW_DTYPE_F32, kW);
  const sw::Value y = relu(matmul(x, w));
  graph.result("y", y);
  graph.update_in_place(w, w - matmul(t(x), y));
  return MUST(graph.finish());
}

sw::CompileOptions small_options() {
  sw::CompileOptions options;
  options.set_mesh(kMesh);
  options.input_layout = "S(0)R";
  return options;
}

sw::Plan small_plan(const sw::Context& context) {
  return MUST(sw::Plan::compile(context, build_small(context), small_options()));
}

std::vector<float> numbers(std::size_t count, int seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((static_cast<int>(i) * 7 + seed) % 5 - 2));
  return values;
}

void reference(const std::vector<float>& x, std::vector<float>* w, std::vector<float>* y) {
  y->assign(std::size_t{8} * 16, 0);
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < 16; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += x[i * 4 + k] * (*w)[k * 16 + j];
      (*y)[i * 16 + j] = std::max(sum, 0.0f);
    }
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t j = 0; j < 16; ++j)
      for (std::size_t i = 0; i < 8; ++i) (*w)[k * 16 + j] -= x[i * 4 + k] * (*y)[i * 16 + j];
}

// ---- Tests ----

void graphs(const sw::Context& context) {
  sw::Graph graph = MUST(sw::Graph::create(context));
  const sw::Value x = graph.input("x", SHW_DTYPE_F32, {4, 8});
  const sw::Value scaled = 2.0 * (-x + 1.0) / 3.0 - x;
  const shw_result_type type = MUST(sum(scaled, {0}).type());
  EXPECT(type.rank == 1 && type.dims[0] == 8 && type.dtype == SHW_DTYPE_F32);
  const sw::Value soft =
      sw::op("softmax", {x}, {sw::Attr("dim", 1), sw::Attr("half_to_float", false)});
  EXPECT(graph.result("y", soft) == 0);
  const sw::Blob bytes = MUST(graph.finish());
  EXPECT(MUST(sw::graph_summary(sw::bytes(bytes))).num_results == 1);
  const sw::Blob text = MUST(sw::graph_to_text(context, sw::bytes(bytes)));
  EXPECT(text.text().find("softmax") != std::string_view::npos);
  const sw::Blob again =
      MUST(sw::import_graph(context, SHW_GRAPH_FORMAT_TEXT, sw::bytes(text.text())));
  EXPECT(MUST(sw::graph_to_text(context, sw::bytes(again))).text() == text.text());
  EXPECT(CODE_OF(sw::graph_summary(sw::bytes(std::string_view("no graph")))) ==
         SHW_INVALID_ARGUMENT);
}

// A wrong line throws. Without exceptions, finish() returns the error of that line, and later lines
// have no effect.
void wrong_shapes(const sw::Context& context) {
  sw::Graph graph = MUST(sw::Graph::create(context));
  const sw::Value x = graph.input("x", SHW_DTYPE_F32, {4, 8});
  const auto outcome = attempt([&] {
    const sw::Value wrong = matmul(x, x);
    graph.result("y", sw::op("no_such_op", {wrong}));
    return graph.finish();
  });
  EXPECT(outcome.code == SHW_INVALID_ARGUMENT);
  EXPECT(outcome.message.find("mm") != std::string::npos);
}

void plans(const sw::Context& context) {
  const sw::Plan plan = small_plan(context);
  const sw::Blob saved = MUST(plan.save());
  const sw::Plan loaded = MUST(sw::Plan::load(context, sw::bytes(saved)));
  const sw::Blob again = MUST(loaded.save());
  EXPECT(saved.text() == again.text());
  std::string damaged(saved.text());
  damaged[damaged.size() / 2] ^= 1;
  EXPECT(CODE_OF(sw::Plan::load(context, sw::bytes(damaged))) == SHW_DATA_LOSS);
  EXPECT(code_of_a_wrong_plan() == SHW_DATA_LOSS);

  const shw_plan_summary summary = MUST(plan.summary());
  EXPECT(summary.proven == 1 && plan.num_ranks() == 4 && plan.num_mesh_axes() == 2);
  EXPECT(std::string_view(MUST(plan.mesh_axis(1)).name) == "tp");
  EXPECT(MUST(plan.port(MUST(plan.find_port("input.x")))).dims[0] == 8);
  EXPECT(CODE_OF(plan.find_port("input.z")) == SHW_NOT_FOUND);
  EXPECT(CODE_OF(plan.port(99)) == SHW_OUT_OF_RANGE);
  double cost = 0;
  for (std::size_t i = 0; i < plan.num_nodes(); ++i) {
    const shw_plan_node node = MUST(plan.node(i));
    cost += node.compute_us + node.communication_us + node.transition_us;
  }
  EXPECT(std::fabs(cost - summary.objective_us) < 1e-9 * cost);
  EXPECT(MUST(plan.to_json()).text()[0] == '{' && MUST(plan.to_trace("step")).size() > 0);
  EXPECT(MUST(plan.compare(loaded)).num_nodes() == 0);

  const shw_pin pins[] = {{"param.w", "RR"}, {"param.w", "S(0)S(1)"}};
  sw::CompileOptions impossible = small_options();
  impossible.set_pins(pins);
  EXPECT(CODE_OF(sw::Plan::compile(context, build_small(context), impossible)) ==
         SHW_FAILED_PRECONDITION);
}

void progress(const sw::Context& context) {
  const sw::Blob graph = build_small(context);
  int told = 0;
  MUST(sw::Plan::compile(context, graph, small_options(),
                         [&](const shw_progress&) { return ++told > 0; }));
  EXPECT(told > 0);
  EXPECT(CODE_OF(sw::Plan::compile(context, graph, small_options(),
                                   [](const shw_progress&) { return false; })) == SHW_CANCELLED);
  sw::Cancel cancel = MUST(sw::Cancel::create());
  cancel.raise();
  sw::CompileOptions options = small_options();
  options.cancel = cancel.get();
  EXPECT(CODE_OF(sw::Plan::compile(context, graph, options)) == SHW_CANCELLED);
#ifdef __cpp_exceptions
  int caught = 0;
  try {
    static_cast<void>(sw::Plan::compile(context, graph, small_options(),
                                        [](const shw_progress&) -> bool { throw 17; }));
  } catch (int thrown) {
    caught = thrown;
  }
  EXPECT(caught == 17);
#endif
}

void questions(const sw::Context& context) {
  const sw::Blob graph = build_small(context);
  sw::Planner planner = MUST(sw::Planner::create(context, graph, small_options()));
  EXPECT(MUST(MUST(planner.compile()).save()).text() == MUST(small_plan(context).save()).text());
  const sw::Explanation why = MUST(planner.explain("param.w"));
  EXPECT(why.num_alternatives() > 0 && MUST(why.alternative(0)).floor_us > 0);
  EXPECT(CODE_OF(planner.explain("nothing")) == SHW_NOT_FOUND);
  EXPECT(MUST(MUST(planner.explain_plan()).summary()).factor_to >= 1);
  const auto pareto = MUST(planner.pareto());
  EXPECT(pareto.num_points() > 0);
  EXPECT(MUST(MUST(planner.compare()).row(0)).kind == SHW_RECIPES_OPTIMUM);
  EXPECT(MUST(planner.to_report(MUST(planner.compile()), nullptr, nullptr, &pareto)).size() >
         MUST(MUST(planner.compile()).to_report()).size());
  sw::CompileOptions free;
  shw_search_options wanted = SHW_SEARCH_OPTIONS_INIT;
  wanted.num_devices = 4;
  EXPECT(MUST(sw::Search::create(context, graph, free, wanted)).num_candidates() > 1);
  EXPECT(MUST(sw::hardware_info("h100")).flops_bf16 > 0);
  EXPECT(MUST(sw::hardware_to_json(context, "h100")).size() > 0);
  EXPECT(CODE_OF(sw::Solution::create(context, sw::bytes(std::string_view("{}")))) ==
         SHW_INVALID_ARGUMENT);
  const shw_calibration_file file = {"run.txt", sw::bytes(std::string_view("nothing")), nullptr};
  EXPECT(CODE_OF(sw::Calibration::create(context, {&file, 1})) == SHW_INVALID_ARGUMENT);
  shw_calibration_options measured = SHW_CALIBRATION_OPTIONS_INIT;
  measured.device = "abacus";
  EXPECT(CODE_OF(sw::Calibration::create(context, {}, &measured)) == SHW_INVALID_ARGUMENT);
}

void runs(const sw::Context& context) {
  sw::Runner runner = MUST(sw::Runner::create(small_plan(context)));
  const std::vector<float> x = numbers(32, 1);
  std::vector<float> w = numbers(64, 2), y, found(128), kept(64);
  EXPECT(CODE_OF(runner.set_state("param.w", sw::tensor(w.data(), kW))) == SHW_OK);
  for (int i = 0; i < 3; ++i) {
    EXPECT(CODE_OF(runner.run("step", {{"input.x", sw::tensor(x.data(), kX)}},
                              {{"output.y", sw::tensor(found.data(), kY)}})) == SHW_OK);
    EXPECT(CODE_OF(runner.read_state("param.w", kept)) == SHW_OK);
    reference(x, &w, &y);
    EXPECT(found == y && kept == w);
  }
  const std::vector<double> doubles(32);
  EXPECT(CODE_OF(runner.run("step", {})) == SHW_INVALID_ARGUMENT);
  EXPECT(CODE_OF(runner.run("step", {{"input.z", sw::tensor(x.data(), kX)}})) == SHW_NOT_FOUND);
  EXPECT(CODE_OF(runner.run("step", {{"output.y", sw::tensor(x.data(), kX)}})) != SHW_OK);
  EXPECT(CODE_OF(runner.run("step", {{"input.x", sw::tensor(doubles.data(), kX)}})) ==
         SHW_INVALID_ARGUMENT);
  EXPECT(CODE_OF(runner.run("stop", {})) == SHW_NOT_FOUND);
  EXPECT(CODE_OF(runner.run("step", {{"input.x", sw::tensor(x.data(), kX)}},
                            {{"output.y", sw::tensor(found.data(), kX)}})) ==
         SHW_INVALID_ARGUMENT);  // the size differs
  EXPECT(CODE_OF(runner.run("step", {{"input.x", sw::tensor(x.data(), kX)}})) == SHW_OK);
}

// Each run sees the parameter as the earlier runs have updated it.
void several_runs_in_flight(const sw::Context& context) {
  const sw::World world = MUST(sw::World::virtual_ranks(context, 4));
  sw::Runner runner = MUST(sw::Runner::in_world(world, small_plan(context)));
  const std::vector<float> x = numbers(32, 1);
  std::vector<float> w = numbers(64, 2), y, found(128), kept(64);
  EXPECT(CODE_OF(runner.set_state("param.w", sw::tensor(w.data(), kW))) == SHW_OK);
  std::vector<sw::Pending> pending;
  std::atomic<int> ended{0};
  for (int i = 0; i < 6; ++i) {
    pending.push_back(MUST(runner.start("step", {{"input.x", sw::tensor(x.data(), kX)}})));
    EXPECT(CODE_OF(pending.back().notify([&ended](shw_code code) { ended += code == SHW_OK; })) ==
           SHW_OK);
  }
  EXPECT(CODE_OF(pending.back().wait()) == SHW_OK);
  for (const sw::Pending& run : pending) {
    EXPECT(run.done() && CODE_OF(run.read("output.y", found)) == SHW_OK);
    reference(x, &w, &y);
    EXPECT(found == y);
  }
  EXPECT(CODE_OF(pending[0].read("output.y", kept)) == SHW_INVALID_ARGUMENT);  // the size differs
  EXPECT(CODE_OF(pending[0].gather("output.z")) == SHW_NOT_FOUND);
  EXPECT(MUST(runner.plan().find_output(0, "output.y")) == 0);
  EXPECT(CODE_OF(runner.plan().find_input(0, "output.y")) == SHW_NOT_FOUND);
  EXPECT(MUST(runner.plan().entry_time(0)).us > 0);
  runner.abort();
  EXPECT(CODE_OF(runner.run("step", {{"input.x", sw::tensor(x.data(), kX)}})) == SHW_OK);
  EXPECT(ended == 6);  // a run ends after all callbacks of earlier runs
}

void buffers(const sw::Context& context) {
  const sw::Device device = MUST(sw::Device::create(context));
  EXPECT(MUST(device.info()).kind == SHW_DEVICE_CPU);
  const std::int64_t dims[] = {2, 2};
  auto owner = std::make_shared<std::vector<float>>(4, 1.5f);
  const std::weak_ptr<std::vector<float>> watched = owner;
  {
    const shw_tensor tensor = sw::tensor(owner->data(), dims);
    sw::Buffer buffer = MUST(sw::Buffer::borrow(device, tensor, std::move(owner)));
    EXPECT(MUST(buffer.tensor()).data == watched.lock()->data());  // no copy
    float values[4] = {};
    EXPECT(CODE_OF(buffer.read(values)) == SHW_OK);
    EXPECT(values[3] == 1.5f && !watched.expired());
    EXPECT(CODE_OF(buffer.write(std::vector<float>(3))) == SHW_INVALID_ARGUMENT);
    EXPECT(CODE_OF(buffer.write(std::vector<float>(4, 2))) == SHW_OK);
    EXPECT(watched.lock()->at(0) == 2);
  }
  EXPECT(watched.expired());
  auto other = std::make_shared<int>(0);
  shw_tensor nothing = sw::tensor(static_cast<const float*>(nullptr), dims);
  EXPECT(CODE_OF(sw::Buffer::borrow(device, nothing, other)) == SHW_INVALID_ARGUMENT);
  EXPECT(other.use_count() == 1);
}

// Calls every collective between two ranks.
bool exchanges(const sw::Group& group) {
  const std::int64_t me = group.member(), mine[] = {me, me + 10}, counts[] = {me, me};
  const std::int64_t sends[] = {0, 1};
  std::int64_t got[4] = {}, part = 0;
  bool good = group.size() == 2 && CODE_OF(group.all_gather(mine, got, 2)) == SHW_OK;
  good = good && got[0] == 0 && got[1] == 10 && got[2] == 1 && got[3] == 11;
  good = good && CODE_OF(group.all_to_all(mine, got, 1)) == SHW_OK;
  good = good && got[0] == 10 * me && got[1] == 10 * me + 1;
  good = good && CODE_OF(group.all_to_all_v(mine, sends, got, counts)) == SHW_OK;
  good = good && (me == 0 || (got[0] == 0 && got[1] == 1));
  good = good && CODE_OF(group.reduce_scatter(mine, &part, 1)) == SHW_OK && part == 1 + 20 * me;
  good = good && CODE_OF(group.all_reduce(mine, got, 2, "max")) == SHW_OK;
  return good && got[0] == 1 && got[1] == 11;
}

void ranks_and_regions(const sw::Context& context) {
  sw::Graph graph = MUST(sw::Graph::create(context));
  const sw::Value x = graph.input("x", SHW_DTYPE_F32, {4});
  const sw::Attr attrs[] = {{"region", "twice"},
                            {"in_placements", "S(0)"},
                            {"out_placements", "S(0)"},
                            {"result_types", "f32[4]"},
                            {"groups", "dp"}};
  graph.result("y", sw::op("local_map", {x}, attrs));
  const shw_mesh_axis mesh[] = {{"dp", 2}};
  sw::CompileOptions options;
  options.set_mesh(mesh);
  const sw::Plan plan = MUST(sw::Plan::compile(context, MUST(graph.finish()), options));

  bool wrong = false;
  sw::RegionBody twice("twice", [&](const shw_region_call& call) -> shw_code {
#ifdef __cpp_exceptions
    if (wrong) throw std::string("no body");
#else
    if (wrong) return SHW_INTERNAL;
#endif
    const auto* in = static_cast<const float*>(call.inputs[0].data);
    auto* out = static_cast<float*>(call.outputs[0].data);
    for (std::int64_t i = 0; i < call.outputs[0].dims[0]; ++i) out[i] = 2 * in[i];
    return exchanges(sw::Group(call.groups[0])) ? SHW_OK : SHW_INTERNAL;
  });
  const shw_region region = twice.raw();
  sw::ExecutorOptions executor_options;
  executor_options.set_regions({&region, 1});
  const sw::World world = MUST(sw::World::virtual_ranks(context, 2));
  const float values[] = {1, 2, 3, 4};
  const std::int64_t dims[] = {4};
  const std::size_t in = MUST(plan.find_port("input.x")), out = MUST(plan.find_port("output.y"));
  std::vector<sw::Executor> executors;
  std::vector<sw::Buffer> inputs, outputs;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    executors.push_back(MUST(sw::Executor::create(plan, world, rank, &executor_options)));
    inputs.push_back(MUST(sw::shard(plan, in, rank, sw::tensor(values, dims))));
  }
  const auto run_all = [&]() -> shw_code {
    std::vector<sw::Event> events;
    outputs.clear();
    for (std::size_t rank = 0; rank < 2; ++rank) {
      shw_buffer* given[] = {inputs[rank].get()};
      shw_buffer* made[] = {nullptr};
      sw::Run run(0);
      run.set_inputs(given).set_outputs(made);
      events.push_back(MUST(executors[rank].enqueue(run)));
      outputs.emplace_back(made[0]);
    }
    int ended = 0;
    std::mutex mutex;
    for (sw::Event& event : events)
      EXPECT(CODE_OF(event.notify([&](shw_code) {
               const std::lock_guard<std::mutex> lock(mutex);
               ++ended;
             })) == SHW_OK);
    shw_code code = SHW_OK;
    for (sw::Event& event : events) {
      const shw_code of_rank = CODE_OF(event.wait());
      if (of_rank != SHW_OK) code = of_rank;
      EXPECT(event.done());
    }
    for (sw::Executor& executor : executors) executor.reset();
    while (true) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (ended == 2) return code;
    }
  };
  EXPECT(run_all() == SHW_OK);
  shw_buffer* pieces[] = {outputs[0].get(), outputs[1].get()};
  float doubled[4] = {};
  EXPECT(CODE_OF(MUST(sw::gather(plan, out, pieces)).read(doubled)) == SHW_OK);
  EXPECT(doubled[0] == 2 && doubled[3] == 8);
  wrong = true;
  EXPECT(run_all() == SHW_INTERNAL || run_all() == SHW_ABORTED);
#ifdef __cpp_exceptions
  std::string said;
  try {
    twice.rethrow();
  } catch (const std::string& thrown) {
    said = thrown;
  }
  EXPECT(said == "no body");
#endif
  sw::Session session = MUST(sw::Session::create(executors[0]));
  executors.clear();
}

void threads(const sw::Context& context) {
  const sw::Plan plan = small_plan(context);
  const sw::Blob saved = MUST(plan.save());
  std::vector<std::thread> all;
  std::vector<int> good(4, 0);
  for (std::size_t i = 0; i < good.size(); ++i)
    all.emplace_back([&, i] {
      good[i] = MUST(small_plan(context).save()).text() == saved.text() && plan.num_ranks() == 4;
    });
  for (std::thread& thread : all) thread.join();
  for (int each : good) EXPECT(each == 1);
}

// Handles can be moved and are destroyed once. The library refuses handles that were moved from,
// since they are empty.
void dead_handles(const sw::Context& context) {
  static_assert(!std::is_copy_constructible_v<sw::Plan> &&
                std::is_nothrow_move_constructible_v<sw::Plan>);
  static_assert(sizeof(sw::Plan) == sizeof(void*), "a handle is a pointer");
  sw::Plan plan = small_plan(context);
  const sw::Plan moved = std::move(plan);
  EXPECT(!plan && moved);  // NOLINT(bugprone-use-after-move)
  EXPECT(plan.num_ranks() == 0);
  EXPECT(CODE_OF(plan.summary()) == SHW_INVALID_ARGUMENT);
  EXPECT(CODE_OF(plan.save()) == SHW_INVALID_ARGUMENT);
  const sw::Context none;
  EXPECT(CODE_OF(sw::Graph::create(none)) == SHW_INVALID_ARGUMENT);
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): ends a test that is wrong
  const sw::Context context = MUST(sw::Context::create());
  const sw::Blob graph = build_training(context);
  sw::CompileOptions options;
  options.set_mesh(kMesh);
  const sw::Blob plan = MUST(MUST(sw::Plan::compile(context, graph, options)).save());
  if (argc > 1) {
    std::FILE* file = std::fopen(argv[1], "wb");
    EXPECT(file != nullptr && std::fwrite(plan.data(), 1, plan.size(), file) == plan.size());
    EXPECT(file != nullptr && std::fclose(file) == 0);
  }
  const std::pair<const char*, void (*)(const sw::Context&)> tests[] = {
      {"graphs", graphs},
      {"wrong_shapes", wrong_shapes},
      {"plans", plans},
      {"progress", progress},
      {"questions", questions},
      {"runs", runs},
      {"several_runs", several_runs_in_flight},
      {"buffers", buffers},
      {"ranks_and_regions", ranks_and_regions},
      {"threads", threads},
      {"dead_handles", dead_handles}};
  for (const auto& [name, test] : tests) {
    const int before = g_failures;
    test(context);
    std::printf("%-20s %s\n", name, g_failures == before ? "ok" : "FAILED");
  }
  return g_failures == 0 ? 0 : 1;
}
