// Measures the rate of matrix products on a device.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/bench/work.h"
#include "runtime/buffer.h"
#include "runtime/hal.h"

namespace shw::runtime {

// Prepared products of gapless operands, which run on several devices at once and are timed
// repeatedly.
class RateMeter {
 public:
  // Selects the products with the most FLOPs, and adds a square product of the first one's type if
  // the device is fast enough for it.
  static Result<RateMeter> create(std::span<const std::shared_ptr<Device>> devices,
                                  const Mesh& mesh, std::vector<Product> products);

  struct Rates {
    // FLOP/s of one device for the fastest product, while all devices run the same product.
    double wall = 0;
    double cpu = 0;  // FLOPs of all devices per second of this process's CPU time
    // The same for f32 products on vector units only, which other libraries use, whether or not the
    // processor has a matrix unit. 0: another dtype, or not a CPU.
    double vector_cpu = 0;
  };
  Result<Rates> best();  // 0: no products

 private:
  struct Trial {  // one product on one device
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
