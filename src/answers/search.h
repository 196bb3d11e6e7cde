// Plans a graph on every mesh that a number of devices can form, best first.
//
// The order of mesh dims matters: outer dims span nodes, inner ones use the fast links. Each mesh
// is planned to optimality. Which mesh dims cut the batch is part of the solution unless the
// options fix the inputs' layout, and is reported. The best mesh has the lowest objective; with
// `--overlap simulated`, the shortest simulated step. Here each use of a value pays for its own
// change of layout. A plan for the mesh may share some of them, and cost up to 2 % less
// (compiler/share_changes.h).
#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace shw::answers {

struct SearchOptions {
  int64_t devices = 0;
  int max_mesh_dims = 3;
  // Plan each mesh once per set of mesh dims that can cut the first dim of all inputs, instead of
  // once with the options' layout.
  bool each_batch = false;
  int threads = 0;  // upper limit; 0: number of cores. Affects only the time taken
  // The number of best plans to find; 0: all. A candidate is abandoned once its bound exceeds the
  // objectives of that many others. The bound reached by abandoned candidates may depend on the
  // threads. With `--overlap simulated` no candidate is abandoned, since prices do not bound
  // simulated steps.
  int best = 0;
};

struct MeshCandidate {
  std::string mesh;          // "d0=8,d1=8"
  std::string input_layout;  // as requested; empty: free
  std::string batch;         // the mesh dims that cut the first dim of every input: "d0,d2"
  Status status;             // why there is no plan; DEADLINE_EXCEEDED: time ran out
  bool given_up = false;     // not among the best: only bound_us is known
  double objective_us = 0, bound_us = 0, compute_us = 0, comm_us = 0, program_us = 0;
  double step_us = 0;  // simulated, of all entries by their weights
  bool proven = false;
  int64_t memory_peak_bytes = 0;  // per rank, as modelled by the planner
  double seconds = 0;
};

// All meshes of that many devices with at most max_dims dims, each larger than one; fewer dims
// first.
std::vector<std::string> mesh_factorisations(int64_t devices, int max_dims);

// All candidates: first those with plans, best first, then abandoned ones by bound, then the rest.
// A layout in `options` with fewer placements than mesh dims is extended by replication; one with
// more excludes that mesh. `options.mesh` is ignored. INVALID_ARGUMENT: nothing to search.
// CANCELLED: as usual.
Result<std::vector<MeshCandidate>> search_meshes(std::span<const uint8_t> graph_bytes,
                                                 const CompileOptions& options,
                                                 const SearchOptions& search, Monitor& monitor);

std::string to_json(const std::vector<MeshCandidate>& candidates);
std::string to_text(const std::vector<MeshCandidate>& candidates);

}  // namespace shw::answers
