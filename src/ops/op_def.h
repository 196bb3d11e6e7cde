// Everything that the compiler knows about one operation, in one constant. src/ops/<file>.cc
// defines the constant, and registry.cc lists it.
//
// How an op may be sharded is defined for one mesh dim at a time: a *rule* gives one placement for
// every result and every operand. strategy/ composes rules over the mesh dims, and drops
// combinations that cannot exist. Ops that only move data (view, permute, casts) *follow* instead:
// each layout of their operand gives one strategy.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "sharding/layout.h"
#include "tensor/attrs.h"
#include "tensor/tensor_type.h"

namespace shw {

enum class ParamKind : uint8_t {
  kTensor,              // an operand
  kOptionalTensor,      // an operand that may be absent
  kTensorOrScalar,      // an operand, or a number: then an attribute of this name
  kTensorList,          // the rest of the operands
  kOptionalTensorList,  // the rest of the operands, of which some may be absent
  kTrailingTensor,      // the last operand: it may be absent, and need not be listed then
  kInt,                 // attributes from here on
  kFloat,
  kNumber,
  kBool,
  kInts,
  kDtype,
  kString,
  kIgnored,  // an argument that changes nothing here (layout, device, pin_memory)
};
inline constexpr std::string_view kRequired = "required";
struct Param {
  std::string_view name;  // an attribute's name is that of its AttrKey
  ParamKind kind;
  // For an attribute: the default value as text ("-1", "false"). kRequired: it must be given.
  // Empty: absence has its own meaning, which no value has; the op's file describes it.
  std::string_view otherwise = {};
  bool required() const { return otherwise == kRequired; }
};

using OptionalType = std::optional<TensorType>;

// A node as op functions see it. Types are those of whole tensors or of one rank's pieces: the
// functions work for both.
struct OpArgs {
  std::span<const OptionalType> operands;  // nullopt: absent
  const Attrs* attrs;
  bool strided = false;  // strided shards are allowed; read by `follow` of view
  const TensorType& in(size_t i) const { return *operands[i]; }
  bool has(size_t i) const { return i < operands.size() && operands[i].has_value(); }
};

// The shard sizes for which a rule is valid under `full`. kEven: only if all its shards have the
// same size.
enum class Blocks : uint8_t { kAny, kEven };

// Single-mesh-dim rules of one node, in the reference's order. The rule "everything replicated" is
// always there and is not listed. Absent operands and results are included (replicate).
class RuleSet {
 public:
  RuleSet(size_t num_results, size_t num_operands)
      : results_(num_results), operands_(num_operands) {}
  void add(std::span<const Placement> results, std::span<const Placement> operands,
           Blocks blocks = Blocks::kAny) {
    rules_.insert(rules_.end(), results.begin(), results.end());
    rules_.insert(rules_.end(), operands.begin(), operands.end());
    blocks_.push_back(blocks);
  }
  void add(std::initializer_list<Placement> results, std::initializer_list<Placement> operands,
           Blocks blocks = Blocks::kAny) {
    add(std::span(results.begin(), results.size()), std::span(operands.begin(), operands.size()),
        blocks);
  }
  size_t size() const { return width() == 0 ? 0 : rules_.size() / width(); }
  size_t width() const { return results_ + operands_; }
  size_t num_results() const { return results_; }
  size_t num_operands() const { return operands_; }
  // Position of the rule "everything replicated": first, or, for ops without operands, last.
  void put_replicate_last() { replicate_last_ = true; }
  bool replicate_last() const { return replicate_last_; }
  std::span<const Placement> rule(size_t i) const {
    return {rules_.data() + i * width(), width()};
  }  // results, then operands
  Blocks blocks(size_t i) const { return blocks_[i]; }

 private:
  size_t results_, operands_;
  bool replicate_last_ = false;
  std::vector<Placement> rules_;
  std::vector<Blocks> blocks_;  // by rule
};

// One strategy of a node that follows its only tensor operand.
struct Followed {
  Layout operand, result;
};

enum class Sharding : uint8_t {
  kRules,     // `rules` composed over the mesh dims
  kFollow,    // `follow` for each strategy of operand 0
  kFree,      // input, alias: every combination of replicate and shard, operand like result
  kElement,   // get_item: each strategy of the tuple gives one, operand like result
  kDeclared,  // one strategy for each alternative that the node itself states (`declared`)
};

enum class PiecePosition : uint8_t { kUnused, kOfResult, kOfOperand };  // of operand or result 0

// Which operand the result may overwrite, if it has exactly the result's type: none, the first, or
// any one. kAnyOperand requires that each element of the result depends only on the same element of
// the operands. The kernel of every backend must support the overwriting.
enum class InPlace : uint8_t { kNever, kFirstOperand, kAnyOperand };

struct OpDef {
  OpKind kind;
  std::span<const Param> params;
  // Result types from operand types. Strides of results are those of ATen. An op with a tuple
  // returns all its elements.
  Result<std::vector<OptionalType>> (*infer)(const OpArgs&);
  Sharding sharding = Sharding::kRules;
  void (*rules)(const OpArgs&, std::span<const OptionalType> results, RuleSet&) = nullptr;
  // Additional rules of the rule set `full`.
  void (*full_rules)(const OpArgs&, std::span<const OptionalType> results, RuleSet&) = nullptr;
  std::optional<Followed> (*follow)(const OpArgs&, const TensorType& result, const Layout& operand,
                                    const Mesh&) = nullptr;
  // The stated layouts of one alternative, whose attributes are in `args`: those of the results,
  // then of the operands. INVALID_ARGUMENT: they are not layouts of this mesh.
  Result<std::vector<Layout>> (*declared)(const OpArgs&, std::span<const OptionalType> results,
                                          const Mesh&) = nullptr;
  // FLOPs of one execution; null: negligible. The bytes that it moves are those of operands and
  // results (placement/pricing.cc).
  double (*flops)(const OpArgs&, std::span<const OptionalType> results) = nullptr;
  bool free = false;  // costs nothing in the model: a view, or an op without work
  // The computation of the op is unknown. `infer` always returns the types of the whole results,
  // whatever its operands. `flops` are those of all ranks together; if it gives none, the op is
  // free (under `compat` always, as in the reference).
  bool opaque = false;
  // The rules hold for any set of indices of a sharded dim, if it is the same set for all tensors
  // that the rule shards: nothing depends on the position of a piece. Then strided shards may
  // replace plain ones, unless the node needs that position (below).
  bool takes_strided = false;
  // The kernel must know the position of its piece in this tensor. Lowering then gives the step the
  // global shape as attribute `size`, and the layout as `cuts` (plan/program.h).
  PiecePosition piece_position = PiecePosition::kUnused;
  // Whether a node with these attributes needs it; null: always.
  bool (*placed)(const Attrs&) = nullptr;
  bool needs_position(const Attrs& attrs) const {
    return piece_position != PiecePosition::kUnused && (placed == nullptr || placed(attrs));
  }
  // Whether a node with these attributes draws random numbers; null: never. Attribute `seed`
  // distinguishes the node from others; lowering gives a node without it a seed of its own. The
  // last operand, `run_seed`, i64[2], is the seed and offset of the run. Without it, every run
  // draws the same numbers (rewrite/run_time_seed.cc).
  bool (*draws)(const Attrs&) = nullptr;
  bool is_random(const Attrs& attrs) const { return draws != nullptr && draws(attrs); }
  InPlace in_place = InPlace::kNever;
  // 8-bit floats may be among its operands and results: it moves, makes, compares or casts them, or
  // multiplies them into a wider sum. Ops with `is_view` or `opaque` may also have them.
  bool takes_float8 = false;
  // The result is the operand's storage with another shape and strides. The runtime never sees the
  // op.
  bool is_view = false;
};

const OpDef& op_def(OpKind kind);

// UNIMPLEMENTED: an operand or result is an 8-bit float, for which the op has no arithmetic.
Status check_float8(const OpDef& def, std::span<const OptionalType> types);

}  // namespace shw
