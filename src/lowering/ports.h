// The interface between a program and its caller: ports for the graph's inputs and outputs, values
// that are returned or updated in place, and values that one entry leaves for another.
#pragma once
#include <optional>
#include <vector>

#include "lowering/builder.h"
#include "redistribution/move_prices.h"
#include "strategy/assignment.h"

namespace shw {

// Ports are numbered: first the inputs of the graph, then its outputs.
class Ports {
 public:
  Ports(const Graph& graph, const Mesh& mesh, const Assignment& assignment, Program& program,
        ProgramBuilder& builder, const MovePrices& prices)
      : g_(graph), mesh_(mesh), a_(assignment), p_(program), builder_(builder), prices_(prices) {}

  // INVALID_ARGUMENT: an input is partial (unless that is allowed; then its port says replicated),
  // or an in-place update has another layout than its input.
  Status create(bool allow_partial_inputs);
  static PortId of_input(uint32_t input) { return PortId{input}; }
  PortId of_output(uint32_t output) const {
    return PortId{static_cast<uint32_t>(g_.inputs().size()) + output};
  }
  ValueId input_value(uint32_t input) const { return p_.ports[of_input(input)].value; }

  // Returns a value to the caller as an output. No copy is made if nothing else is in the value's
  // storage and no later entry reads it.
  void export_output(uint32_t output, ValueId value, bool read_later);
  // Overwrites the inputs that are updated in place, at the end of the entry that starts at
  // `first_step`. If all readers of the old value come before the step that makes the new one, that
  // step writes directly into the input's storage.
  void update_in_place(uint32_t first_step);
  // Call it after the last entry. Arena storages that one entry writes and another reads become
  // part of the session.
  void finish();

 private:
  struct Update {
    uint32_t input;
    ValueId value;
    bool read_later;  // a later entry reads it from the session
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
