#include "measure/accelerator.h"

#include <algorithm>

#include "cost/hardware_description.h"
#include "measure/collectives.h"
#include "measure/kernel_cases.h"
#include "measure/kernel_timer.h"

// Compute on a device is priced by its rates and by tables of products and attention, measured in
// every dtype, since a table in only one dtype would also be used for the others. The time of a
// pointwise step is that of its bytes or that of the smallest launch, so these two are measured.
namespace shw::measure {
namespace {

using cost::Basis;
using runtime::CopyKind;
using runtime::MemoryKind;
using runtime::MemorySpec;

constexpr Dtype kRates[] = {Dtype::kF64, Dtype::kF32, Dtype::kF16, Dtype::kBF16};
constexpr Dtype kAttention[] = {Dtype::kF32, Dtype::kF16, Dtype::kBF16};
constexpr int kCopies = 5;  // to and from the host; the fastest counts

void add_copy(KernelTimer& timer, int64_t bytes) {
  ProbeMaker::Step c;
  const TensorType type = row_major(Dtype::kF32, {bytes / 4});
  c.step.kernel = "clone";
  c.step.inputs = {timer.maker().operand(Source::kFirst, type)};
  c.results = {type};
  timer.add_point(c, timer.begin("", Dtype::kF32, {{bytes / 4}}));
}

// Bytes of the largest operand.
int64_t source_bytes(const AcceleratorSizes& s) {
  const int64_t side = std::max(s.rate, s.products.back());
  return std::max({side * side * 8, s.heads * s.keys.back() * s.widths.back() * 4, s.copied});
}

class Figures {
 public:
  explicit Figures(cost::Hardware& hardware) : hardware_(hardware) {}
  void set(double& figure, double value, const std::string& name) {
    figure = value;
    say(name, Basis::kMeasured);
  }
  void say(const std::string& name, Basis basis) {
    std::erase_if(hardware_.bases, [&](const auto& known) { return known.figure == name; });
    hardware_.bases.push_back({name, basis});
  }

 private:
  cost::Hardware& hardware_;
};

Status measure_device(const runtime::RankBackend& backend, const AcceleratorSizes& s,
                      cost::DeviceSpec& device, Figures& figures) {
  KernelTimer timer(source_bytes(s), source_bytes(s));
  for (const Dtype dtype : kRates) timer.add_products(dtype, s.products);
  for (const Dtype dtype : kAttention)
    timer.add_attention(kUnbiasedAttention, dtype, s.keys, s.widths, s.heads, 0);
  for (const Dtype dtype : kRates) timer.add_rate(dtype, s.rate);
  add_copy(timer, s.copied);
  timer.add_launch();
  SHW_ASSIGN_OR_RETURN(device.kernels, timer.run(backend));
  const auto take_last = [&] {
    const double us = device.kernels.back().us[0];
    device.kernels.pop_back();
    return us;
  };
  figures.set(device.launch_us, take_last(), "device.launch_us");
  figures.set(device.memory_bytes_per_s, 2 * static_cast<double>(s.copied) / take_last() * 1e6,
              "device.memory_bytes_per_s");
  double* const rates[] = {&device.flops_f64, &device.flops_f32, &device.flops_f16,
                           &device.flops_bf16};
  const auto side = static_cast<double>(s.rate);
  for (size_t i = std::size(rates); i-- > 0;)
    figures.set(*rates[i], 2 * side * side * side / take_last() * 1e6,
                "device.flops_per_s." + std::string(dtype_name(kRates[i])));
  figures.set(device.efficiency, 1, "device.efficiency");  // the rates are measured, not peak rates
  return {};
}

// Memory that lives as long as a measurement.
class Memory {
 public:
  static Result<Memory> allocate(runtime::Device& device, const MemorySpec& spec) {
    SHW_ASSIGN_OR_RETURN(void* data, device.allocate(spec));
    return Memory(device, spec, data);
  }
  Memory(Memory&& other) noexcept
      : device_(other.device_), spec_(other.spec_), data_(std::exchange(other.data_, nullptr)) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (data_ != nullptr) device_.free(data_, spec_);
  }
  void* data() const { return data_; }

 private:
  Memory(runtime::Device& device, const MemorySpec& spec, void* data)
      : device_(device), spec_(spec), data_(data) {}
  runtime::Device& device_;
  const MemorySpec spec_;
  void* data_;
};

// Copies in both directions in pinned memory, one after the other; the slower direction counts.
Result<double> host_bytes_per_s(runtime::Device& device, int64_t bytes) {
  SHW_ASSIGN_OR_RETURN(const Memory there, Memory::allocate(device, {bytes}));
  SHW_ASSIGN_OR_RETURN(const Memory here, Memory::allocate(device, {bytes, 64, MemoryKind::kHost}));
  SHW_ASSIGN_OR_RETURN(const auto before, device.create_event({.timing = true}));
  SHW_ASSIGN_OR_RETURN(const auto after, device.create_event({.timing = true}));
  runtime::Fault fault;
  SHW_ASSIGN_OR_RETURN(const auto stream, device.create_stream({.fault = &fault}));
  const auto fastest = [&](CopyKind kind, void* to, const void* from) -> Result<double> {
    double least = 0;
    for (int i = 0; i < kCopies; ++i) {
      stream->record(*before);
      stream->copy(to, from, bytes, kind);
      stream->record(*after);
      SHW_RETURN_IF_ERROR(stream->synchronize());
      SHW_RETURN_IF_ERROR(fault.status());
      SHW_ASSIGN_OR_RETURN(const auto time, after->time_since(*before));
      const double s = std::max(std::chrono::duration<double>(time).count(), 1e-9);
      least = i == 0 ? s : std::min(least, s);
    }
    return least;
  };
  SHW_ASSIGN_OR_RETURN(const double in,
                       fastest(CopyKind::kHostToDevice, there.data(), here.data()));
  SHW_ASSIGN_OR_RETURN(const double out,
                       fastest(CopyKind::kDeviceToHost, here.data(), there.data()));
  return static_cast<double>(bytes) / std::max(in, out);
}

// With one device there are no links to measure.
answers::CalibrationReport without_links(const cost::Hardware& hardware, const std::string& base) {
  answers::CalibrationReport report;
  report.base = base;
  report.calibration.hardware = hardware;
  report.description = cost::hardware_json(hardware) + "\n";
  return report;
}

}  // namespace

Result<answers::CalibrationReport> measure_accelerators(const runtime::RankBackend& backend,
                                                        int64_t devices,
                                                        const AcceleratorSizes& sizes,
                                                        const cost::Hardware& base,
                                                        const std::string& name) {
  cost::Hardware hardware = base;
  hardware.name = hardware.device.name = name;
  hardware.measured.clear();
  Figures figures(hardware);
  for (const char* rate : {"i8", "f8"})
    figures.say(std::string("device.flops_per_s.") + rate, Basis::kFallback);
  for (const char* link : {"intra_gb_per_s", "inter_gb_per_s"})
    figures.say(std::string(hardware.nccl ? "nccl." : "ring.") + link, Basis::kFallback);
  SHW_RETURN_IF_ERROR(measure_device(backend, sizes, hardware.device, figures));
  const std::shared_ptr<runtime::Device> device = backend.or_cpu().device(0);
  SHW_ASSIGN_OR_RETURN(const double host, host_bytes_per_s(*device, sizes.copied));
  figures.set(hardware.device.host_bytes_per_s, host, "device.host_bytes_per_s");
  SHW_ASSIGN_OR_RETURN(std::vector<cost::Measurement> collectives,
                       measure_collectives(backend, devices, sizes.between, sizes.collectives));
  if (collectives.empty()) return without_links(hardware, base.name);
  return answers::calibrate(hardware, std::move(collectives), name);
}

}  // namespace shw::measure
