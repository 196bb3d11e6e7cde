// Compares the time that a plan states for a step with the price of its program. Prints planned and
// lowered µs of graphs on meshes, the largest difference first.
// usage: bench_price GRAPH.swgraph=MESH[;MESH…]… | bench_price --sources GRAPH.swgraph MESH
//   bench_price build/llama_tiny.swgraph='x=8;dp=2,tp=4;a=2,b=2,c=2;a=2,b=2,c=2,d=2'
// The second form prints, for each node of one graph, where the two differ.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "import/file.h"
#include "lowering/lower.h"
#include "passes/pass.h"

namespace {

struct Row {
  std::string graph, mesh;
  double planned_us = 0, lowered_us = 0;
  double compute_us = 0, collectives_us = 0, copies_us = 0;  // lowered minus planned
  double relative() const { return (lowered_us - planned_us) / planned_us; }
};

bool is_copy(const std::string& kernel) {
  return kernel == "clone" || kernel == "local_slice" || kernel == "fill_padding" ||
         kernel == "extend";
}

shw::Result<shw::Compiled> plan(const std::string& path, const std::string& mesh) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, shw::import::read_file(path));
  shw::Monitor monitor;
  shw::CompileOptions options;
  options.mesh = mesh;
  return shw::compile(graph, options, monitor);
}

// The program before the pass that splits steps to run side by side. Split steps have a higher
// price but take less time.
shw::Result<std::pair<shw::Solved, shw::Program>> lowered(const std::string& path,
                                                          const std::string& mesh) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, shw::import::read_file(path));
  shw::Monitor monitor;
  SHW_ASSIGN_OR_RETURN(shw::Solved solved, shw::solve_once(graph, {.mesh = mesh}, monitor));
  std::vector<double> compute_us;
  for (const auto& cost : solved.placed.costs) compute_us.push_back(cost.own_us());
  SHW_ASSIGN_OR_RETURN(
      shw::Program program,
      shw::lower(solved.model->graph(), *solved.placed.assignment, solved.model->redistributor(),
                 {.compute_us = compute_us,
                  .choice = solved.placed.choice,
                  .shared = solved.placed.shared.get()},
                 monitor));
  static constexpr const shw::PassDef* kPasses[] = {&shw::kCommonSubexpressions, &shw::kDeadSteps};
  SHW_RETURN_IF_ERROR(shw::run_passes(program, kPasses, {}, monitor).status());
  return std::pair(std::move(solved), std::move(program));
}

bool measure(const std::string& path, const std::string& mesh, std::vector<Row>& rows) {
  const auto made = lowered(path, mesh);
  if (!made.ok()) {
    std::fprintf(stderr, "%s on %s: %s\n", path.c_str(), mesh.c_str(),
                 made.status().message().c_str());
    return false;
  }
  const auto& [solved, program] = *made;
  const auto& s = solved.placed.total;
  Row row{path.substr(path.rfind('/') + 1), mesh};
  row.planned_us = s.compute_us + s.comm_us;  // the µs of a transition only break ties
  double copies = 0, collectives = 0;
  for (const shw::ProgramStep& step : program.steps) {
    row.lowered_us += step.cost_us;
    if (step.collective.kind != shw::CollectiveKind::kNone) collectives += step.cost_us;
    if (is_copy(step.kernel)) copies += step.cost_us;
  }
  row.copies_us = copies;
  row.collectives_us = collectives - s.comm_us;
  row.compute_us = row.lowered_us - copies - collectives - s.compute_us;
  rows.push_back(row);
  return true;
}

// Prints the differences by node of the caller's graph and kind of step.
int show_sources(const std::string& path, const std::string& mesh) {
  const auto compiled = plan(path, mesh);
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s\n", compiled.status().message().c_str());
    return 1;
  }
  for (const shw::NodeDecision& d : compiled->plan.summary.decisions)
    if (d.comm_us > 0)
      std::printf("planned %12.4f %s %s (%s) -> %s\n", d.comm_us, d.name.c_str(), d.op.c_str(),
                  d.operand_layouts.c_str(), d.result_layout.c_str());
  for (const shw::ProgramStep& step : compiled->plan.program.steps)
    if (step.collective.kind != shw::CollectiveKind::kNone || is_copy(step.kernel))
      std::printf("lowered %12.4f node %u %s\n", step.cost_us, step.node, step.kernel.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "--sources")
    return show_sources(arguments[1], arguments[2]);
  std::vector<Row> rows;
  bool ok = !arguments.empty();
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find("=");
    std::string meshes = equals == std::string::npos ? "" : argument.substr(equals + 1);
    for (size_t end; !meshes.empty();
         meshes = end == std::string::npos ? "" : meshes.substr(end + 1)) {
      end = meshes.find(';');
      ok = measure(argument.substr(0, equals), meshes.substr(0, end), rows) && ok;
    }
  }
  std::ranges::sort(rows, std::ranges::greater(),
                    [](const Row& r) { return std::abs(r.relative()); });
  std::printf(
      "| graph, mesh | planned us | lowered us | difference | compute | collectives | "
      "copies |\n|---|---|---|---|---|---|---|\n");
  for (const Row& r : rows)
    std::printf("| %s %s | %.4f | %.4f | %+.2e | %+.4f | %+.4f | %.4f |\n", r.graph.c_str(),
                r.mesh.c_str(), r.planned_us, r.lowered_us, r.relative(), r.compute_us,
                r.collectives_us, r.copies_us);
  return ok ? 0 : 1;
}
