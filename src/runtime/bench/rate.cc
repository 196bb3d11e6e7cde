#include "runtime/bench/rate.h"

#include <algorithm>
#include <ctime>
#include <tuple>

#include "runtime/bench/fill.h"
#include "runtime/kernel.h"

namespace shw::runtime {
namespace {

constexpr size_t kShapes = 4;  // number of shapes to measure, those with the most FLOPs
constexpr std::string_view kByVectors = "vector_mm";
constexpr int kTries = 2;             // per product and measurement; the best one counts
constexpr double kMostSeconds = 0.5;  // products that would take longer are not timed

// The `kShapes` largest distinct products. Batches are excluded, because their matrices are
// smaller.
std::vector<Product> chosen(std::vector<Product> all) {
  for (Product& p : all) p.batch = 1;
  const auto key = [](const Product& p) { return std::tuple(-p.flops(), p.m, p.n, p.k, p.dtype); };
  std::sort(all.begin(), all.end(),
            [&](const Product& a, const Product& b) { return key(a) < key(b); });
  const auto same = [&](const Product& a, const Product& b) { return key(a) == key(b); };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  if (all.size() > kShapes) all.resize(kShapes);
  if (!all.empty()) all.push_back({1, 1024, 1024, 1024, all[0].dtype});
  return all;
}

}  // namespace

Result<RateMeter> RateMeter::create(std::span<const std::shared_ptr<Device>> devices,
                                    const Mesh& mesh, std::vector<Product> products) {
  RateMeter meter;
  const std::vector<Product> shapes = chosen(std::move(products));
  for (const auto& device : devices) {
    SHW_ASSIGN_OR_RETURN(meter.places_.emplace_back(), prepare(device, mesh, shapes));
  }
  return meter;
}

Result<RateMeter::Place> RateMeter::prepare(const std::shared_ptr<Device>& device, const Mesh& mesh,
                                            std::span<const Product> products) {
  Place place;
  place.fault = std::make_unique<Fault>();
  SHW_ASSIGN_OR_RETURN(place.stream, device->create_stream({.fault = place.fault.get()}));
  SHW_ASSIGN_OR_RETURN(place.begin, device->create_event({.timing = true}));
  SHW_ASSIGN_OR_RETURN(place.end, device->create_event({.timing = true}));
  for (const Product& p : products) {
    SHW_ASSIGN_OR_RETURN(place.trials.emplace_back(), prepare(device, mesh, p, false));
  }
  if (!products.empty() && products[0].dtype == Dtype::kF32 && device->has_kernel(kByVectors)) {
    SHW_ASSIGN_OR_RETURN(place.trials.emplace_back(), prepare(device, mesh, products[0], true));
  }
  return place;
}

Result<RateMeter::Trial> RateMeter::prepare(const std::shared_ptr<Device>& device, const Mesh& mesh,
                                            const Product& p, bool vectors) {
  Trial trial;
  trial.flops = p.flops();
  trial.vectors = vectors;
  const TensorType a = row_major(p.dtype, {p.m, p.k}), b = row_major(p.dtype, {p.k, p.n}),
                   c = row_major(p.dtype, {p.m, p.n});
  const TensorType* in[] = {&a, &b};
  const TensorType* out[] = {&c};
  SHW_ASSIGN_OR_RETURN(trial.kernel,
                       device->prepare(vectors ? kByVectors : "mm", {in, out, Attrs{}, mesh, 0}));
  for (const int64_t bytes : {a.bytes(), b.bytes(), c.bytes(), trial.kernel->workspace_bytes()}) {
    SHW_ASSIGN_OR_RETURN(trial.memory.emplace_back(), Buffer::allocate(device, {.bytes = bytes}));
    trial.buffers.push_back(trial.memory.back()->data());
  }
  for (size_t i = 0; i < 2; ++i)
    SHW_RETURN_IF_ERROR(fill_with_numbers(*device, *trial.memory[i], p.dtype, 0, i));
  return trial;
}

Result<RateMeter::Rates> RateMeter::time(size_t trial) {
  const std::clock_t cpu_begin = std::clock();
  for (Place& p : places_) {
    p.stream->record(*p.begin);
    p.trials[trial].kernel->launch(*p.stream, p.trials[trial].buffers.data());
    p.stream->record(*p.end);
    p.stream->flush();
  }
  double seconds = 0;  // time of the slowest device
  for (Place& p : places_) {
    SHW_RETURN_IF_ERROR(p.stream->synchronize());
    SHW_ASSIGN_OR_RETURN(const auto took, p.end->time_since(*p.begin));
    seconds = std::max(seconds, std::chrono::duration<double>(took).count());
  }
  const double flops = places_[0].trials[trial].flops,
               cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  return Rates{seconds > 0 ? flops / seconds : 0,
               cpu_seconds > 0 ? flops * static_cast<double>(places_.size()) / cpu_seconds : 0};
}

Result<RateMeter::Rates> RateMeter::best() {
  Rates rates;
  for (size_t t = 0; !places_.empty() && t < places_[0].trials.size(); ++t)
    for (int i = 0; i < kTries; ++i) {
      if (rates.wall > 0 && places_[0].trials[t].flops / rates.wall > kMostSeconds) break;
      SHW_ASSIGN_OR_RETURN(const Rates one, time(t));
      if (places_[0].trials[t].vectors) {
        rates.vector_cpu = std::max(rates.vector_cpu, one.cpu);
        continue;
      }
      rates.wall = std::max(rates.wall, one.wall);
      rates.cpu = std::max(rates.cpu, one.cpu);
    }
  return rates;
}

}  // namespace shw::runtime
