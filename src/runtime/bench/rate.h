// The rate of matrix products on a device, measured.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/bench/work.h"
#include "runtime/buffer.h"
#include "runtime/hal.h"

namespace shw::runtime {

// Gapless products on several devices at once, prepared to be timed again and again.
class RateMeter {
 public:
  // The products with the most FLOPs, and a square one of the first's type, where the device is not
  // so slow that this would take long.
  static Result<RateMeter> create(std::span<const std::shared_ptr<Device>> devices,
                                  const Mesh& mesh, std::vector<Product> products);

  struct Rates {
    double wall = 0;  // FLOP/s of one device, of the fastest product, while all devices do the same
    double cpu = 0;   // FLOPs of all devices by a second of this process's CPU time
    // The same of f32 products that processors multiply with vectors alone, whether or not they
    // have a matrix unit: what other libraries do. 0: of another type, or not on processors.
    double vector_cpu = 0;
  };
  Result<Rates> best();  // 0: no products

 private:
  struct Trial {  // of one product on one device
    double flops = 0;
    bool vectors = false;
    std::unique_ptr<PreparedKernel> kernel;
    std::vector<BufferRef> memory;  // a, b, c, workspace
    std::vector<void*> buffers;
  };
  struct Place {
    std::unique_ptr<Fault> fault;
    std::unique_ptr<Stream> stream;
    std::unique_ptr<Event> begin, end;
    std::vector<Trial> trials;
  };
  static Result<Place> prepare(const std::shared_ptr<Device>& device, const Mesh& mesh,
                               std::span<const Product> products);
  static Result<Trial> prepare(const std::shared_ptr<Device>& device, const Mesh& mesh,
                               const Product& product, bool vectors);
  Result<Rates> time(size_t trial);

  std::vector<Place> places_;
};

}  // namespace shw::runtime
