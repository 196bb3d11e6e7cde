// Where a program meets its caller: ports for the graph's inputs and outputs, what becomes of a
// value that is handed over, and what entries leave to one another.
#pragma once
#include <optional>
#include <vector>

#include "lowering/builder.h"
#include "redistribution/move_prices.h"
#include "strategy/assignment.h"

namespace shw {

// The ports of a graph are numbered: its inputs, then its outputs.
class Ports {
 public:
  Ports(const Graph& graph, const Mesh& mesh, const Assignment& assignment, Program& program,
        ProgramBuilder& builder, const MovePrices& prices)
      : g_(graph), mesh_(mesh), a_(assignment), p_(program), builder_(builder), prices_(prices) {}

  // INVALID_ARGUMENT: an input lies partial (unless that is allowed; then its port says
  // replicated), or an update that is made in place lies otherwise than its input.
  Status create(bool allow_partial_inputs);
  static PortId of_input(uint32_t input) { return PortId{input}; }
  PortId of_output(uint32_t output) const {
    return PortId{static_cast<uint32_t>(g_.inputs().size()) + output};
  }
  ValueId input_value(uint32_t input) const { return p_.ports[of_input(input)].value; }

  // Returns a value to the caller as an output: without a copy if nothing else is in its storage
  // and no later entry reads it.
  void export_output(uint32_t output, ValueId value, bool read_later);
  // Overwrites the inputs that are updated in place, at the end of the entry whose first step this
  // is. A result is written there at once if all readers of the old value come before it.
  void update_in_place(uint32_t first_step);
  // After the last entry: arena storages that one entry writes and another reads are the session's.
  void finish();

 private:
  struct Update {
    uint32_t input;
    ValueId value;
    bool read_later;  // by a later entry, from the session
  };
  Status create_input(uint32_t input, bool allow_partial);
  Status create_output(uint32_t output);
  bool is_whole_storage(ValueId value) const;
  std::optional<uint32_t> overwritable_operand(const ProgramStep& step, StorageId in) const;
  struct Accesses {  // to a storage, in one entry
    std::optional<uint32_t> maker, last_reader;
    bool written_twice = false;
  };
  std::vector<Accesses> accesses(uint32_t first_step) const;
  bool can_overwrite(const Update& update, const std::vector<Accesses>& of);
  void move_storage(StorageId from, StorageId to);

  const Graph& g_;
  const Mesh& mesh_;
  const Assignment& a_;
  Program& p_;
  ProgramBuilder& builder_;
  const MovePrices& prices_;
  std::vector<Update> updates_;  // of the current entry
};

}  // namespace shw
