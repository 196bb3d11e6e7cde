// Runs one op under one strategy on virtual ranks and compares it with the unsharded op. These
// tests catch every wrong sharding rule: each rank gets its piece of every operand, in the layouts
// that the strategy states (partial layouts included). The op then runs through lowering, plan
// bytes and executor. Finally the results of all ranks are assembled and compared.
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
  int64_t rises_to = 0;  // > 0: integers that rise evenly to this value
  int64_t packs = 0;     // > 0: integers; each row begins at 0 and rises to at most this
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
// The same, but only for strategies that shard an operand or a result with a strided shard and that
// need no partial operand. Operands come from views that flatten dims. They are replicated before
// the op's strategy changes their layout.
OpOutcome run_every_strided_strategy(const OpCase& c, const Mesh& mesh, uint32_t stride);

}  // namespace shw::testing
