// One op under one strategy on virtual ranks, against the unsharded op. This is the test that makes
// a wrong sharding rule impossible to land: pieces of every operand are made rank by rank as the
// strategy's layouts say (partial ones too), the op runs through lowering, plan bytes and executor,
// and what the ranks hold afterwards is put together and compared.
#pragma once
#include <string>
#include <vector>

#include "ops/op_def.h"
#include "strategy/strategies.h"

namespace shw::testing {

struct Operand {
  TensorType type;
  bool present = true;
  int64_t index_limit = 0;  // > 0: integers in [0, index_limit)
  double low = -2, high = 2;
  int64_t rises_to = 0;  // > 0: integers that rise evenly to this one
  int64_t packs = 0;     // > 0: each row begins with 0 and rises to at most this one
};

struct OpCase {
  std::string name;
  OpKind op;
  std::vector<Operand> operands;
  Attrs attrs;
  double tolerance = 5e-6;  // relative, Frobenius; 0: bits must be equal
};

// At least one case for every op.
std::vector<OpCase> op_cases();

struct OpOutcome {
  uint32_t strategies = 0, executed = 0;
  double worst = 0;
};
// Executes every `stride`-th strategy; failures are gtest failures.
OpOutcome run_every_strategy(const OpCase& c, const Mesh& mesh, uint32_t stride);
// The same of those that shard an operand or result with a factor, and want no operand partial:
// operands come from views that flatten, and lie whole before the op asks for them.
OpOutcome run_every_strided_strategy(const OpCase& c, const Mesh& mesh, uint32_t stride);

}  // namespace shw::testing
