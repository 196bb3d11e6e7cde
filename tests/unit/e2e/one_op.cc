#include "one_op.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "compiler/pipeline.h"
#include "cost/collective.h"
#include "float8.h"
#include "lowering/lower.h"
#include "lowering/shard_order.h"
#include "packed.h"
#include "passes/pass.h"
#include "plan/plan.h"
#include "redistribution/move_prices.h"
#include "runtime/virtual_ranks.h"
#include "support/function_ref.h"
#include "support/hash.h"
#include "without_pass.h"

namespace shw::testing {
namespace {

using runtime::BufferRef;
using runtime::VirtualRanks;

// A tensor of the test, row-major. Every element is a double; a complex element is two doubles.
struct Values {
  TensorType type;
  std::vector<double> v;
};
size_t width(Dtype d) { return is_complex(d) ? 2 : 1; }

double rounded(Dtype d, double x) {
  if (d == Dtype::kF32 || d == Dtype::kC64) return static_cast<float>(x);
  if (d == Dtype::kBF16) {  // to nearest even
    const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(x));
    return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
  }
  if (is_float8(d)) return float8_value(d, nearest_float8(d, x));
  return x;
}

void store(Dtype d, double x, std::byte* to) {
  const auto put = [to](auto v) { std::memcpy(to, &v, sizeof v); };
  switch (d) {
    case Dtype::kF32:
    case Dtype::kC64:
      return put(static_cast<float>(x));
    case Dtype::kF64:
      return put(x);
    case Dtype::kBF16:
      return put(
          static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(rounded(d, x))) >> 16));
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return put(nearest_float8(d, x));
    case Dtype::kI64:
      return put(static_cast<int64_t>(x));
    case Dtype::kI32:
      return put(static_cast<int32_t>(x));
    case Dtype::kBool:
      return put(static_cast<uint8_t>(x));
    default:
      ADD_FAILURE() << "no test data of dtype " << dtype_name(d);
  }
}
double load(Dtype d, const std::byte* from) {
  const auto get = [from](auto v) {
    std::memcpy(&v, from, sizeof v);
    return static_cast<double>(v);
  };
  switch (d) {
    case Dtype::kF32:
    case Dtype::kC64:
      return get(0.0f);
    case Dtype::kF64:
      return get(0.0);
    case Dtype::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(get(uint16_t{})) << 16);
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return float8_value(d, static_cast<uint8_t>(*from));
    case Dtype::kI64:
      return get(int64_t{});
    case Dtype::kI32:
      return get(int32_t{});
    case Dtype::kBool:
      return get(uint8_t{});
    default:
      ADD_FAILURE() << "no test data of dtype " << dtype_name(d);
      return 0;
  }
}

// Calls f(index in the whole tensor, index in the piece) for every element of the rank's own block.
template <class F>
void for_piece(const Dims& whole, const Dims& piece, const Block& own, F f) {
  int64_t count = 1;
  for (int64_t d : piece) count *= d;
  const Dims strides = row_major_strides(whole);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0;
    bool is_own = true;
    for (size_t d = piece.size(); d-- > 0;) {
      is_own = is_own && rest % piece[d] < own.size[d];
      at += (own.offset[d] + rest % piece[d]) * strides[d];
      rest /= piece[d];
    }
    if (is_own) f(static_cast<size_t>(at), static_cast<size_t>(i));
  }
}

// Reduces the values that the ranks along partial mesh dims hold: `value(coordinates)` for all
// combinations of coordinates, one mesh dim after another.
template <class F>
double reduce(const Layout& layout, const Mesh& mesh, int m, std::vector<int64_t>& at, F value) {
  if (m == mesh.rank()) return value(at);
  if (!layout[m].is_partial()) return reduce(layout, mesh, m + 1, at, value);
  const int64_t n = mesh.size(m);
  double r = 0;
  for (at[static_cast<size_t>(m)] = 0; at[static_cast<size_t>(m)] < n;
       ++at[static_cast<size_t>(m)]) {
    const double x = reduce(layout, mesh, m + 1, at, value);
    const bool first = at[static_cast<size_t>(m)] == 0;
    switch (layout[m].reduce_op()) {
      case ReduceOp::kSum:
      case ReduceOp::kAvg:
        r += x;
        break;
      case ReduceOp::kMax:
        r = first ? x : std::max(r, x);
        break;
      case ReduceOp::kMin:
        r = first ? x : std::min(r, x);
        break;
      case ReduceOp::kProduct:
        r = first ? x : r * x;
        break;
    }
  }
  at[static_cast<size_t>(m)] = 0;
  return layout[m].reduce_op() == ReduceOp::kAvg ? r / static_cast<double>(n) : r;
}

// Element i of an operand that holds the ends of documents. Rows have documents of different
// lengths, and every second row has one document less.
double end_of_document(const Operand& o, int64_t i) {
  const int64_t columns = o.type.shape.back(), row = i / columns;
  const int64_t document = std::min(i % columns, columns - 1 - row % 2);
  return static_cast<double>(std::min(o.packs, document * (o.packs / columns + row % 3)));
}

// The part of element `i` held by the ranks with these coordinates along partial mesh dims. Values
// are small multiples of 1/8, so that sums and averages over a few ranks are exact.
double part_of(const Operand& o, uint64_t seed, size_t i, const std::vector<int64_t>& at) {
  if (o.rises_to > 0)
    return static_cast<double>(static_cast<int64_t>(i + 1) * o.rises_to / o.type.numel());
  if (o.packs > 0) return end_of_document(o, static_cast<int64_t>(i));
  uint64_t h = hash_combine(seed, i);
  for (int64_t c : at) h = hash_combine(h, static_cast<uint64_t>(c));
  if (o.index_limit > 0) return static_cast<double>(h % static_cast<uint64_t>(o.index_limit));
  const double unit = static_cast<double>(h % 1024) / 1024;
  return rounded(o.type.dtype, std::round((o.low + (o.high - o.low) * unit) * 8) / 8);
}

std::vector<int64_t> partial_coordinates(const Layout& layout, const Mesh& mesh, int64_t rank) {
  std::vector<int64_t> at(static_cast<size_t>(mesh.rank()), 0);
  for (int m = 0; m < mesh.rank(); ++m)
    if (layout[m].is_partial()) at[static_cast<size_t>(m)] = mesh.coordinate(rank, m);
  return at;
}

Values whole_operand(const Operand& o, const Layout& layout, const Mesh& mesh, uint64_t seed) {
  Values whole{o.type,
               std::vector<double>(static_cast<size_t>(o.type.numel()) * width(o.type.dtype))};
  std::vector<int64_t> at(static_cast<size_t>(mesh.rank()), 0);
  for (size_t i = 0; i < whole.v.size(); ++i)
    whole.v[i] = reduce(layout, mesh, 0, at,
                        [&](const std::vector<int64_t>& c) { return part_of(o, seed, i, c); });
  return whole;
}

struct Job {
  Graph graph;
  NodeId node;
};

// The type with every dim split in two where possible. A view turns a tensor of this type into
// `type` and thereby creates strided shards.
TensorType unfolded(const TensorType& type) {
  Dims shape;
  for (size_t d = 0; d < type.shape.size(); ++d) {
    const int64_t n = type.shape[d];
    const bool splits = n % 8 == 0 && shape.size() + type.shape.size() - d < kMaxRank;
    if (splits) shape.push_back(2);
    shape.push_back(splits ? n / 2 : n);
  }
  return row_major(type.dtype, shape);
}

// If `flattened`, operands come from views, and results pass through choice points.
Result<Job> one_node_graph(const OpCase& c, bool flattened = false) {
  Job job;
  std::vector<NodeId> operands;
  std::vector<OptionalType> types;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    types.push_back(c.operands[k].present ? OptionalType(c.operands[k].type) : std::nullopt);
    if (!c.operands[k].present) {
      operands.push_back(kNoNode);
      continue;
    }
    const TensorType& type = c.operands[k].type;
    operands.push_back(job.graph.add_input("x" + std::to_string(k),
                                           flattened ? unfolded(type) : type,
                                           {.role = InputRole::kInput, .name = std::to_string(k)}));
  }
  for (size_t k = 0; k < operands.size() && flattened; ++k) {
    if (!operands[k].valid()) continue;
    const TensorType& type = c.operands[k].type;
    Attrs size;
    size.set(AttrKey::kSize, std::vector<int64_t>(type.shape.begin(), type.shape.end()));
    operands[k] =
        job.graph.add_node(OpKind::kView, "flat" + std::to_string(k), {operands[k]}, size, type);
  }
  SHW_ASSIGN_OR_RETURN(const auto results, op_def(c.op).infer({types, &c.attrs}));
  job.node = job.graph.add_node(c.op, "op", operands, c.attrs, results, results.size() > 1, {});
  for (size_t r = 0; r < results.size(); ++r) {
    if (!results[r]) continue;
    NodeId out = job.node;
    if (results.size() > 1) {
      Attrs index;
      index.set(AttrKey::kIndex, static_cast<int64_t>(r));
      out = job.graph.add_node(OpKind::kGetItem, "item" + std::to_string(r), {job.node}, index,
                               *results[r]);
    }
    if (flattened)
      out = job.graph.add_node(OpKind::kAlias, "out" + std::to_string(r), {out}, {}, *results[r]);
    job.graph.add_output({.node = out, .role = OutputRole::kResult, .name = std::to_string(r)});
  }
  return job;
}

// A plan and the real layouts of its inputs. The ports of partial inputs say "replicated".
struct OpPlan {
  Plan plan;
  std::vector<Layout> inputs;
  bool splits_products = false;
};

// Turns a lowered program into one that can run.
using Arrange = FunctionRef<Result<Arranged>(Program)>;
constexpr auto with_default_passes = [](Program program) -> Result<Arranged> {
  Monitor monitor;
  SHW_RETURN_IF_ERROR(run_passes(program, default_passes(), {}, monitor).status());
  expect_packed(program);
  return Arranged{std::move(program)};
};

// Inputs have the layouts of the strategy's operands. Results leave in the layouts that the
// strategy produces, except that partial results are reduced first.
Result<OpPlan> plan_for(const Job& job, const Mesh& mesh, const Strategies& strategies,
                        uint32_t strategy, Arrange arrange) {
  OpPlan out;
  Assignment assignment(job.graph);
  const StrategySet& set = strategies.of(job.node);
  const auto operands = job.graph.operands(job.node);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k].valid()) continue;
    const Layout& l = strategies.operand_layout(job.node, k, strategy);
    const bool whole = job.graph.op(operands[k]) == OpKind::kView;
    out.inputs.push_back(whole ? Layout{} : l);
    assignment.operands(job.node)[k] = l;
    assignment.results(operands[k])[0] = out.inputs.back();
  }
  for (size_t r = 0; r < set.results.size(); ++r)
    if (set.results[r].valid())
      assignment.results(job.node)[r] = strategies.result_layout(job.node, r, strategy);
  for (uint32_t i = job.node.v + 1; i < job.graph.num_nodes(); ++i) {
    if (job.graph.op(NodeId{i}) == OpKind::kAlias) continue;  // replicated
    const auto r = static_cast<size_t>(job.graph.attrs(NodeId{i}).get_int(AttrKey::kIndex, 0));
    assignment.operands(NodeId{i})[0] = assignment.results(NodeId{i})[0] =
        assignment.results(job.node)[r];
  }
  SHW_ASSIGN_OR_RETURN(const auto hardware, cost::hardware_by_name("h100"));
  SHW_ASSIGN_OR_RETURN(const auto model, cost::CollectiveModel::create(hardware, mesh));
  Monitor monitor;
  Plan plan;
  const MovePrices prices = move_prices(model);
  Redistributor redistributor(mesh, prices);
  SHW_RETURN_IF_ERROR(choose_shard_orders(job.graph, redistributor, {}, assignment, monitor));
  SHW_ASSIGN_OR_RETURN(Program lowered,
                       lower(job.graph, assignment, redistributor,
                             {.compute_us = {}, .allow_partial_inputs = true}, monitor));
  SHW_ASSIGN_OR_RETURN(Arranged arranged, arrange(std::move(lowered)));
  plan.program = std::move(arranged.program);
  out.splits_products = arranged.splits_products;
  SHW_ASSIGN_OR_RETURN(out.plan, read_plan(write_plan(plan)));
  return out;
}

// Buffers by rank and port.
using Pieces = std::vector<std::vector<BufferRef>>;

Result<Pieces> execute(const OpPlan& op, const OpCase& c, uint64_t seed) {
  const Plan& plan = op.plan;
  SHW_ASSIGN_OR_RETURN(const auto ranks, VirtualRanks::create(std::make_shared<const Plan>(plan)));
  const ProgramEntry& entry = ranks->program().entries[0];
  std::vector<Operand> present;
  for (const Operand& o : c.operands)
    if (o.present) present.push_back(o);
  Pieces in(static_cast<size_t>(ranks->num_ranks())), out(in.size());
  for (int64_t r = 0; r < ranks->num_ranks(); ++r) {
    for (size_t k = 0; k < present.size(); ++k) {
      const Port& port = plan.program.ports[entry.inputs[k]];
      const TensorType& local = plan.program.values[port.value].type;
      EXPECT_TRUE(local.contiguous()) << "an input piece is expected row-major";
      SHW_ASSIGN_OR_RETURN(
          BufferRef buffer,
          runtime::Buffer::allocate(
              std::shared_ptr<runtime::Device>(&ranks->device(r), [](auto*) {}), {local.bytes()}));
      const Block own = local_block(port.global.shape, port.layout, ranks->mesh(), r);
      // The padding is filled with the most harmful bits: NaN, or an invalid index.
      std::fill_n(static_cast<std::byte*>(buffer->data()), local.bytes(), std::byte{0xff});
      const auto at = partial_coordinates(op.inputs[k], ranks->mesh(), r);
      const Dtype dtype = local.dtype;
      const auto item = static_cast<size_t>(dtype_size(dtype)) / width(dtype);
      for_piece(port.global.shape, local.shape, own, [&](size_t whole, size_t piece) {
        for (size_t w = 0; w < width(dtype); ++w)
          store(dtype, part_of(present[k], seed + k, whole * width(dtype) + w, at),
                static_cast<std::byte*>(buffer->data()) + (piece * width(dtype) + w) * item);
      });
      in[static_cast<size_t>(r)].push_back(std::move(buffer));
    }
    out[static_cast<size_t>(r)].resize(entry.outputs.size());
  }
  std::vector<runtime::Completion> done;
  for (int64_t r = 0; r < ranks->num_ranks(); ++r) {
    SHW_ASSIGN_OR_RETURN(
        auto completion,
        ranks->executor(r).enqueue(entry, in[static_cast<size_t>(r)], out[static_cast<size_t>(r)]));
    done.push_back(std::move(completion));
  }
  for (const auto& completion : done) SHW_RETURN_IF_ERROR(completion.wait());
  // The output buffers belong to devices whose lifetime ends here, so their data is copied.
  for (auto& rank : out)
    for (BufferRef& b : rank)
      if (b) {
        const auto* data = static_cast<const std::byte*>(b->data());
        auto* copy = new std::vector<std::byte>(data, data + b->bytes());
        b = runtime::Buffer::borrow(copy->data(), b->bytes(), [copy] { delete copy; });
      }
  return out;
}

// Assembles the whole result from the pieces of all ranks. Replicas must be equal to the bit.
Values assemble(const OpPlan& op, const Mesh& mesh, const Pieces& pieces, size_t port_index) {
  const Program& program = op.plan.program;
  const Port& port = program.ports[program.entries[0].outputs[port_index]];
  const ProgramValue& value = op.plan.program.values[port.value];
  const Dtype dtype = port.global.dtype;
  const size_t w = width(dtype), item = static_cast<size_t>(dtype_size(dtype)) / w;
  Values whole{port.global, std::vector<double>(static_cast<size_t>(port.global.numel()) * w, NAN)};
  EXPECT_TRUE(value.type.contiguous()) << "an output piece is expected row-major";
  for (int64_t r = 0; r < mesh.num_ranks(); ++r) {
    const auto* base =
        static_cast<const std::byte*>(pieces[static_cast<size_t>(r)][port_index]->data()) +
        value.offset_bytes;
    const Block own = local_block(port.global.shape, port.layout, mesh, r);
    for_piece(port.global.shape, value.type.shape, own, [&](size_t at, size_t piece) {
      for (size_t k = 0; k < w; ++k) {
        const double x = load(dtype, base + (piece * w + k) * item);
        double& slot = whole.v[at * w + k];
        if (!std::isnan(slot) && slot != x)
          ADD_FAILURE() << "replicas differ: " << slot << " and " << x << " on rank " << r;
        slot = x;
      }
    });
  }
  return whole;
}

double relative_error(const Values& got, const Values& want) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < got.v.size(); ++i) {
    if (std::isinf(want.v[i]) && got.v[i] == want.v[i]) continue;
    difference += (got.v[i] - want.v[i]) * (got.v[i] - want.v[i]);
    norm += want.v[i] * want.v[i];
  }
  if (difference == 0) return 0;
  return norm == 0 ? INFINITY : std::sqrt(difference / norm);
}

// Runs the op on one rank, on the whole operands that the parts of a strategy add up to.
class Unsharded {
 public:
  explicit Unsharded(const OpCase& c) : case_(c) {}
  Result<std::vector<Values>> run(const std::vector<Values>& operands) {
    const Mesh one = *Mesh::parse("one=1");
    SHW_ASSIGN_OR_RETURN(const Job job, one_node_graph(case_));
    Monitor monitor;
    SHW_ASSIGN_OR_RETURN(const auto strategies, Strategies::enumerate(job.graph, one, {}, monitor));
    SHW_ASSIGN_OR_RETURN(const OpPlan op, plan_for(job, one, strategies, 0, with_default_passes));
    const Plan& plan = op.plan;
    SHW_ASSIGN_OR_RETURN(const auto ranks,
                         VirtualRanks::create(std::make_shared<const Plan>(plan)));
    std::vector<std::vector<std::byte>> bytes;
    std::vector<runtime::HostTensorView> views;
    for (const Values& o : operands) {
      const size_t w = width(o.type.dtype),
                   item = static_cast<size_t>(dtype_size(o.type.dtype)) / w;
      std::vector<std::byte>& b = bytes.emplace_back(o.v.size() * item);
      for (size_t i = 0; i < o.v.size(); ++i) store(o.type.dtype, o.v[i], b.data() + i * item);
      views.push_back({o.type, b.data()});
    }
    SHW_ASSIGN_OR_RETURN(const auto outputs, ranks->run(plan.program.entries[0].name, views));
    std::vector<Values> results;
    for (const auto& t : outputs) {
      Values& r = results.emplace_back(Values{t.type, {}});
      const size_t w = width(t.type.dtype),
                   item = static_cast<size_t>(dtype_size(t.type.dtype)) / w;
      for (size_t i = 0; i < static_cast<size_t>(t.type.numel()) * w; ++i)
        r.v.push_back(load(t.type.dtype, t.data.data() + i * item));
    }
    return results;
  }

 private:
  const OpCase& case_;
};

bool same_bits(const Values& a, const Values& b) {
  return a.v.size() == b.v.size() &&
         (a.v.empty() || std::memcmp(a.v.data(), b.v.data(), a.v.size() * sizeof(double)) == 0);
}

// Expects the same results without one of the optional passes.
void expect_same_without(OptionalPass pass, const Job& job, const Mesh& mesh,
                         const Strategies& strategies, uint32_t strategy, const OpCase& c,
                         uint64_t seed, const std::vector<Values>& want) {
  const auto without_it = [&](Program lowered) {
    return arranged(std::move(lowered), job.graph, *recompute_policy("full"), pass);
  };
  const auto plan = plan_for(job, mesh, strategies, strategy, without_it);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  if (!plan.ok()) return;
  const auto pieces = execute(*plan, c, seed);
  EXPECT_TRUE(pieces.ok()) << pieces.status().message();
  if (!pieces.ok()) return;
  for (size_t p = 0; p < want.size(); ++p) {
    const Values got = assemble(*plan, mesh, *pieces, p);
    EXPECT_TRUE(plan->splits_products ? relative_error(got, want[p]) <= 5e-6
                                      : same_bits(got, want[p]))
        << "result " << p << " without " << name_of(pass);
  }
}

bool is_strided_and_whole(const Job& job, const Strategies& strategies, uint32_t s) {
  const StrategySet& set = strategies.of(job.node);
  bool strided = false;
  for (size_t r = 0; r < set.results.size(); ++r)
    strided |= set.results[r].valid() && strategies.result_layout(job.node, r, s).has_strided();
  for (size_t k = 0; k < set.operands.size(); ++k) {
    if (!set.operands[k].valid()) continue;
    const Layout& l = strategies.operand_layout(job.node, k, s);
    if (l.has_partial()) return false;
    strided |= l.has_strided();
  }
  return strided;
}

// One in this many plans also runs without a pass.
constexpr uint32_t kLeftOutOf = 6;

OpOutcome run_strategies(const OpCase& c, const Mesh& mesh, uint32_t stride, bool strided) {
  OpOutcome outcome;
  const auto job = one_node_graph(c, strided);
  EXPECT_TRUE(job.ok()) << job.status().message();
  if (!job.ok()) return outcome;
  Monitor monitor;
  auto strategies = Strategies::enumerate(job->graph, mesh, {.strided = strided}, monitor);
  EXPECT_TRUE(strategies.ok()) << strategies.status().message();
  if (!strategies.ok()) return outcome;
  std::vector<uint32_t> numbers;
  for (uint32_t s = 0; s < strategies->of(job->node).count; ++s)
    if (!strided || is_strided_and_whole(*job, *strategies, s)) numbers.push_back(s);
  outcome.strategies = static_cast<uint32_t>(numbers.size());
  Unsharded unsharded(c);
  for (uint32_t i = 0; i < outcome.strategies; i += stride) {
    const uint32_t s = numbers[i];
    SCOPED_TRACE(c.name + " on " + mesh.to_string() + ": " +
                 strategy_text(*strategies, job->node, s, mesh.rank()));
    const uint64_t seed = 1000 + 16 * s;
    const auto plan = plan_for(*job, mesh, *strategies, s, with_default_passes);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    if (!plan.ok()) continue;
    const auto pieces = execute(*plan, c, seed);
    EXPECT_TRUE(pieces.ok()) << pieces.status().message();
    std::vector<Values> operands;
    for (size_t k = 0; k < c.operands.size(); ++k)
      if (c.operands[k].present)
        operands.push_back(whole_operand(c.operands[k], plan->inputs[operands.size()], mesh,
                                         seed + operands.size()));
    const auto want = unsharded.run(operands);
    EXPECT_TRUE(want.ok()) << want.status().message();
    if (!pieces.ok() || !want.ok()) continue;
    std::vector<Values> got;
    for (size_t p = 0; p < want->size(); ++p) {
      got.push_back(assemble(*plan, mesh, *pieces, p));
      const double error = relative_error(got[p], (*want)[p]);
      // An average over three ranks is rounded.
      const double tolerance = std::max(c.tolerance, mesh.num_ranks() % 3 == 0 ? 1e-7 : 0.0);
      EXPECT_LE(error, tolerance) << "result " << p;
      outcome.worst = std::max(outcome.worst, error);
    }
    if (outcome.executed % kLeftOutOf == 0)
      expect_same_without(
          OptionalPass{static_cast<uint8_t>(outcome.executed / kLeftOutOf % kNumOptionalPasses)},
          *job, mesh, *strategies, s, c, seed, got);
    ++outcome.executed;
  }
  return outcome;
}

}  // namespace

OpOutcome run_every_strategy(const OpCase& c, const Mesh& mesh, uint32_t stride) {
  return run_strategies(c, mesh, stride, false);
}

OpOutcome run_every_strided_strategy(const OpCase& c, const Mesh& mesh, uint32_t stride) {
  return run_strategies(c, mesh, stride, true);
}

}  // namespace shw::testing
