// Runs the data movement of a program on all ranks, one step after another. Collectives follow
// their definitions. The code is short enough to trust, so that lowering can be checked against it.
// Every element is a double, whatever its dtype. The only compute kernels that it knows are copies.
#pragma once
#include <bit>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plan/program.h"
#include "sharding/layout.h"

namespace shw::testing {

class VirtualRanks {
 public:
  explicit VirtualRanks(const Program& program);

  int64_t num_ranks() const { return mesh_.num_ranks(); }
  // The elements of a value's window on one rank, row-major.
  std::vector<double> read(int64_t rank, ValueId value) const;
  void write(int64_t rank, ValueId value, const std::vector<double>& elements);
  void run();  // all steps

  // Called for kernels that this class does not know. Inputs and outputs are row-major.
  using Kernel = std::function<std::vector<std::vector<double>>(
      const ProgramStep&, const std::vector<std::vector<double>>& inputs)>;
  Kernel kernel;

 private:
  void run_step(const ProgramStep& step);
  void run_collective(const ProgramStep& step);
  void run_slice(const ProgramStep& step);
  // The ranks of every group, with members in the order of `axes`. `axes` are dims of mesh_.
  std::vector<std::vector<int64_t>> groups(const std::vector<uint8_t>& axes) const;
  // Translates a program's axes into dims of mesh_. A whole dim becomes all its parts.
  template <class Numbers>
  std::vector<uint8_t> in_parts(const Numbers& axes) const {
    std::vector<uint8_t> dims;
    for (const auto axis : axes)
      for (uint32_t left = given_.mask_by_parts(1u << axis); left != 0; left &= left - 1)
        dims.push_back(static_cast<uint8_t>(std::countr_zero(left)));
    return dims;
  }

  const Program& p_;
  const Mesh given_, mesh_;                               // mesh_: given_ split into its parts
  std::vector<std::vector<std::vector<double>>> memory_;  // [rank][storage][element]
};

// One rank's piece of a whole tensor, row-major, under a layout without partials.
std::vector<double> piece_of(const std::vector<double>& whole, const Dims& shape,
                             const Layout& layout, const Mesh& mesh, int64_t rank);

}  // namespace shw::testing
