#include "answers/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>

#include "compiler/fastest.h"
#include "compiler/programs.h"
#include "plan/report.h"
#include "simulate/simulate.h"
#include "support/parallel.h"
#include "support/stable_sort.h"

namespace shw::answers {
namespace {

void add_factorisations(int64_t devices, size_t dims, std::vector<int64_t>& sizes,
                        std::vector<std::string>& out) {
  if (dims == 1) {
    sizes.push_back(devices);
    std::string mesh;
    for (size_t i = 0; i < sizes.size(); ++i)
      mesh += (i == 0 ? "d" : ",d") + std::to_string(i) + "=" + std::to_string(sizes[i]);
    out.push_back(std::move(mesh));
    sizes.pop_back();
    return;
  }
  for (int64_t outer = 2; outer <= devices / 2; ++outer) {
    if (devices % outer != 0) continue;
    sizes.push_back(outer);
    add_factorisations(devices / outer, dims - 1, sizes, out);
    sizes.pop_back();
  }
}

int mesh_rank(const std::string& mesh) {
  return 1 + static_cast<int>(std::count(mesh.begin(), mesh.end(), ','));
}

// Extends a layout by replication: "S(0)" on a mesh of three dims becomes "S(0)RR".
std::string filled_up(const std::string& layout, int rank) {
  if (layout.empty() || layout == kFreeLayout) return layout;
  for (int given = 1; given < rank; ++given)
    if (parse_layout(layout, given).ok())
      return layout + std::string(static_cast<size_t>(rank - given), 'R');
  return layout;
}

bool is_simulated(const CompileOptions& options) {
  return options.overlap.kind == Overlap::kSimulated;
}

// Plans the candidates on several threads.
class Searcher {
 public:
  Searcher(const CompileOptions& options, size_t best, Monitor& monitor,
           std::vector<std::vector<MeshCandidate>>& meshes)
      : options_(options), best_(best), monitor_(monitor), meshes_(meshes) {
    // Meshes with the most dims first, since they take longest; last if few plans are wanted,
    // because cheap plans found early allow others to be abandoned. Large outer dims first: these
    // are often good.
    order_.resize(meshes.size());
    std::iota(order_.rbegin(), order_.rend(), size_t{0});
    if (best > 0)
      sort_stably(order_, std::ranges::less(),
                  [&](size_t i) { return mesh_rank(meshes_[i].front().mesh); });
  }

  Status run(std::span<const uint8_t> graph, const Threads& threads) {
    Monitor monitor;
    monitor.cancel = monitor_.cancel;
    CompileOptions options = options_;
    options.keep_graph = false;
    SHW_ASSIGN_OR_RETURN(rewritten_, RewrittenGraph::read(graph, options, monitor));
    threads_ = std::min<size_t>(threads.count(), meshes_.size());
    run_on_threads({static_cast<uint32_t>(threads_), threads.executor}, [this] { work(); });
    return failure_;
  }

 private:
  void work() {
    try {
      for (size_t i = next_++; i < order_.size() && !stop_; i = next_++)
        plan(meshes_[order_[i]], options_.solver.deadline.after_share(share_of(i)));
    } catch (const std::bad_alloc&) {
      fail(Status(Code::kResourceExhausted, "out of memory"));
    } catch (const std::exception& e) {
      fail(internal_error(e.what()));
    }
  }

  void fail(Status status) {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
    stop_ = true;
  }

  // A share of the remaining time that leaves as much for each later candidate.
  double share_of(size_t i) const {
    const size_t left = order_.size() - i;
    return std::min(1.0, static_cast<double>(threads_) / static_cast<double>(left));
  }

  // Plans a mesh under each of its input layouts.
  void plan(std::vector<MeshCandidate>& candidates, const Deadline& deadline) {
    Monitor monitor;
    monitor.cancel = monitor_.cancel;
    monitor.on_progress = [this](const Progress&) { return stop_.load(); };
    CompileOptions options = options_;
    options.mesh = candidates.front().mesh;
    options.solver.threads = 1;  // the other threads plan other meshes
    options.solver.deadline = deadline;
    const int rank = mesh_rank(options.mesh);
    options.input_layout = candidates.front().input_layout;
    options.output_layout = filled_up(options.output_layout, rank);
    for (auto* ports : {&options.inputs, &options.outputs})
      for (auto& [name, layout] : *ports) layout = filled_up(layout, rank);
    const auto start = std::chrono::steady_clock::now();
    const auto model = PreparedModel::create(rewritten_, options, monitor);
    for (MeshCandidate& c : candidates) {
      options.input_layout = c.input_layout;
      options.solver.deadline = deadline.after_share(
          1.0 / static_cast<double>(candidates.data() + candidates.size() - &c));
      c.status = model.ok() ? fill(**model, options, c, monitor) : model.status();
      if (c.given_up) c.status = {};
      c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      report(c);
      if (stop_) return;
    }
  }

  Status fill(const PreparedModel& model, const CompileOptions& options, MeshCandidate& c,
              Monitor& monitor) {
    Monitor watched;  // remembers that it was stopped
    watched.cancel = monitor_.cancel;
    watched.on_progress = [this, &c](const Progress& p) {
      c.given_up = std::isfinite(p.lower_bound_us) && p.lower_bound_us > give_up_at_;
      if (c.given_up) c.bound_us = p.lower_bound_us;
      return c.given_up || stop_.load();
    };
    SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                         ConstrainedModel::create(model, options, monitor));
    // Sharing changes of layout between uses hardly affects the order of meshes, and would double
    // the time.
    SHW_ASSIGN_OR_RETURN(const Placed placed,
                         answer(question.sharing_as(nullptr), options.solver, watched));
    Monitor timed = improving_until(options.solver.deadline, monitor);
    SHW_ASSIGN_OR_RETURN(const Program program, final_program(model, placed, timed));
    c.objective_us = placed.objective_us;
    c.bound_us = placed.bound_us;
    c.compute_us = placed.total.compute_us;
    c.comm_us = placed.total.comm_us;
    c.proven = placed.proven;
    c.program_us = program_cost(program).us;
    c.step_us = simulated_us(program);
    c.memory_peak_bytes = static_cast<int64_t>(placed.memory.peak_bytes);
    c.batch = batch_dims(program);
    return {};
  }

  static std::string batch_dims(const Program& program) {
    std::string names;
    for (size_t m = 0; m < program.mesh.size(); ++m) {
      bool cuts_all = true, any = false;
      for (const Port& port : program.ports) {
        if (port.role != PortRole::kInput) continue;
        any = true;
        cuts_all &= port.layout[static_cast<int>(m)] == Placement::shard(0);
      }
      if (any && cuts_all) names += (names.empty() ? "" : ",") + program.mesh[m].name;
    }
    return names;
  }

  void report(const MeshCandidate& c) {
    const std::lock_guard lock(mutex_);
    if (c.status.ok() && !c.given_up) {
      objectives_us_.insert(std::ranges::upper_bound(objectives_us_, c.objective_us),
                            c.objective_us);
      if (best_ > 0 && !is_simulated(options_) && objectives_us_.size() >= best_)
        give_up_at_ = objectives_us_[best_ - 1];
    }
    Progress progress{.phase = "search"};
    if (!objectives_us_.empty()) progress.best_cost_us = objectives_us_.front();
    if (Status s = monitor_.report(progress); !s.ok()) {
      if (failure_.ok()) failure_ = std::move(s);
      stop_ = true;
    }
  }

  std::shared_ptr<const RewrittenGraph> rewritten_;  // for all meshes
  const CompileOptions& options_;
  const size_t best_;  // number of plans wanted; 0: all
  Monitor& monitor_;   // the caller's; used under the lock
  std::vector<std::vector<MeshCandidate>>& meshes_;
  std::vector<size_t> order_;  // the order of planning
  size_t threads_ = 1;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  Status failure_;
  std::vector<double> objectives_us_;  // of the plans so far, ascending
  std::atomic<double> give_up_at_ = std::numeric_limits<double>::infinity();
};

// The input layouts to try on a mesh.
std::vector<std::string> input_layouts(const CompileOptions& options, const SearchOptions& search,
                                       int rank) {
  if (!search.each_batch) return {filled_up(options.input_layout, rank)};
  std::vector<std::string> layouts;
  for (uint32_t set = 0; set < 1u << rank; ++set) {
    std::string layout;
    for (int m = 0; m < rank; ++m) layout += set >> m & 1 ? "S(0)" : "R";
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

}  // namespace

std::vector<std::string> mesh_factorisations(int64_t devices, int max_dims) {
  std::vector<std::string> meshes;
  std::vector<int64_t> sizes;
  for (int dims = 1; dims <= max_dims; ++dims)
    add_factorisations(devices, static_cast<size_t>(dims), sizes, meshes);
  return meshes;
}

Result<std::vector<MeshCandidate>> search_meshes(std::span<const uint8_t> graph_bytes,
                                                 const CompileOptions& options,
                                                 const SearchOptions& search, Monitor& monitor) {
  constexpr int64_t kMaxDevices = 1 << 20;  // the maximum of a mesh
  if (search.devices < 1 || search.devices > kMaxDevices)
    return invalid_argument(std::to_string(search.devices) + " devices: expected 1 to " +
                            std::to_string(kMaxDevices));
  if (search.max_mesh_dims < 1 || search.max_mesh_dims > kMaxMeshRank)
    return invalid_argument("up to " + std::to_string(search.max_mesh_dims) +
                            " mesh dims: expected 1 to " + std::to_string(kMaxMeshRank));
  if (search.threads < 0)
    return invalid_argument(std::to_string(search.threads) + " threads: expected 0 or more");
  std::vector<std::vector<MeshCandidate>> meshes;
  for (const std::string& mesh : mesh_factorisations(search.devices, search.max_mesh_dims)) {
    meshes.emplace_back();
    for (std::string& layout : input_layouts(options, search, mesh_rank(mesh)))
      meshes.back().push_back({mesh, std::move(layout), {}, {}});
  }
  if (search.best < 0)
    return invalid_argument("the best " + std::to_string(search.best) +
                            " meshes: expected 1 or more, or 0 for all");
  SHW_RETURN_IF_ERROR(
      Searcher(options, static_cast<size_t>(search.best), monitor, meshes)
          .run(graph_bytes, {static_cast<uint32_t>(search.threads), options.solver.tasks}));
  std::vector<MeshCandidate> all;
  for (auto& of_mesh : meshes)
    for (MeshCandidate& c : of_mesh) all.push_back(std::move(c));
  const auto rank = [&](const MeshCandidate& c) {
    if (!c.status.ok()) return std::pair(2, 0.0);
    if (c.given_up) return std::pair(1, c.bound_us);
    return std::pair(0, is_simulated(options) ? c.step_us : c.objective_us);
  };
  sort_stably(all, std::ranges::less(), rank);
  // An error that concerns every mesh is returned as such.
  if (!all.front().status.ok() && all.size() == 1) return all.front().status;
  return all;
}

}  // namespace shw::answers
