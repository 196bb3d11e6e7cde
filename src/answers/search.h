// Which mesh to make of a number of devices: every way to factor it is planned, best first.
//
// The order of the factors counts: outer mesh dims span machines, inner ones share the fast links.
// What is best for a mesh is what the placement solver says. Which mesh dims cut the batch is part
// of it unless the options fix the inputs' layout; each plan says which they are.
#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace shw::answers {

struct SearchOptions {
  int64_t devices = 0;
  int max_mesh_dims = 3;
  // Plan each mesh once for every set of mesh dims that could cut the first dim of all inputs,
  // instead of once with what the options say.
  bool each_batch = false;
  int threads = 0;  // at most; 0: as many as cores. Changes the time it takes, not the answer
  // Only so many best plans are wanted; 0: all. A candidate is given up once its bound is above the
  // objectives of so many others; how far the others got may depend on threads.
  int best = 0;
};

struct MeshCandidate {
  std::string mesh;          // "d0=8,d1=8"
  std::string input_layout;  // that was asked for; empty: free
  std::string batch;         // mesh dims that cut the first dim of every input: "d0,d2"
  Status status;             // why there is no plan; DEADLINE_EXCEEDED: for want of time
  bool given_up = false;     // it is not among the best: bound_us is known of it, no plan
  double objective_us = 0, bound_us = 0, compute_us = 0, comm_us = 0, program_us = 0;
  bool proven = false;
  int64_t memory_peak_bytes = 0;  // of a rank, as the planner counts it
  double seconds = 0;
};

// The meshes of that many devices with up to so many dims, each larger than one; fewer dims first.
std::vector<std::string> mesh_factorisations(int64_t devices, int max_dims);

// All candidates, those with plans by objective, then those given up by bound, then the others. A
// layout in `options` that has fewer places than a mesh has dims leaves the rest replicated; one
// that has more keeps that mesh from being planned. `options.mesh` plays no part. INVALID_ARGUMENT:
// nothing to search. CANCELLED as everywhere.
Result<std::vector<MeshCandidate>> search_meshes(std::span<const uint8_t> graph_bytes,
                                                 const CompileOptions& options,
                                                 const SearchOptions& search, Monitor& monitor);

std::string to_json(const std::vector<MeshCandidate>& candidates);
std::string to_text(const std::vector<MeshCandidate>& candidates);

}  // namespace shw::answers
