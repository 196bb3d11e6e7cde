#include "runtime/world/world.h"

#include <algorithm>
#include <cstring>

#include "plan/plan_format.h"

namespace shw::runtime {
namespace {

std::string ranks_text(int64_t count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

std::string library_of(const ProgramIdentity& program) {
  return {program.library, strnlen(program.library, sizeof program.library)};
}

}  // namespace

ProgramIdentity identity_of(const Plan& plan) {
  ProgramIdentity program;
  program.checksum = plan.checksum;
  program.graph_hash = plan.summary.graph_hash;
  program.options_hash = plan.summary.options_hash;
  program.mesh_hash = plan.summary.mesh_hash;
  std::strncpy(program.library, plan_format::kLibraryVersion, sizeof program.library - 1);
  return program;
}

Status check_same_program(int64_t rank, const ProgramIdentity& mine, int64_t other_rank,
                          const ProgramIdentity& other) {
  std::string what;
  const auto compare = [&](const char* name, const std::string& a, const std::string& b) {
    if (a == b) return;
    what += (what.empty() ? "" : ", ") + std::string(name) + " " + a + " and " + b;
  };
  const auto compare_hash = [&](const char* name, uint64_t a, uint64_t b) {
    compare(name, std::to_string(a), std::to_string(b));
  };
  compare("library versions", library_of(mine), library_of(other));
  compare_hash("graph hashes", mine.graph_hash, other.graph_hash);
  compare_hash("options hashes", mine.options_hash, other.options_hash);
  compare_hash("mesh hashes", mine.mesh_hash, other.mesh_hash);
  const bool same_source = what.empty();
  compare_hash("checksums of the plans", mine.checksum, other.checksum);
  if (what.empty()) return {};
  std::string text = "rank " + std::to_string(rank) + " and rank " + std::to_string(other_rank) +
                     " would run different programs together: " + what;
  if (same_source)
    text +=
        " (of the same graph, options and mesh: give every rank the same plan file, or compile "
        "with "
        "the same library, threads and no time limit)";
  return failed_precondition(text);
}

Status check_rank(int64_t rank, int64_t num_ranks, const Mesh& mesh) {
  if (mesh.num_ranks() != num_ranks)
    return failed_precondition("the plan is for " + ranks_text(mesh.num_ranks()) + " (" +
                               mesh.to_string() + "), the world has " + ranks_text(num_ranks));
  if (rank < 0 || rank >= num_ranks)
    return Status(Code::kOutOfRange, "there is no rank " + std::to_string(rank) + ": there are " +
                                         std::to_string(num_ranks));
  return {};
}

}  // namespace shw::runtime
