#include "runtime/null/channel.h"

namespace shw::runtime::null {
namespace {

class NullCollective final : public PreparedKernel {
 public:
  NullCollective(std::shared_ptr<Tally> tally, int64_t bytes)
      : tally_(std::move(tally)), bytes_(bytes) {}
  void launch(Stream&, void* const*) override {
    tally_->collectives += 1;
    tally_->collective_bytes += bytes_;
  }

 private:
  const std::shared_ptr<Tally> tally_;
  const int64_t bytes_;
};

class NullChannel final : public Channel {
 public:
  NullChannel(std::shared_ptr<Tally> tally, int64_t member, int64_t size)
      : tally_(std::move(tally)), member_(member), size_(size) {}
  int64_t member() const override { return member_; }
  int64_t size() const override { return size_; }
  Result<std::unique_ptr<PreparedKernel>> prepare(const CollectiveSpec& spec) override {
    return std::unique_ptr<PreparedKernel>(
        std::make_unique<NullCollective>(tally_, spec.count * dtype_size(spec.dtype)));
  }

 private:
  const std::shared_ptr<Tally> tally_;
  const int64_t member_, size_;
};

class NullProvider final : public ChannelProvider {
 public:
  NullProvider(std::shared_ptr<Tally> tally, Mesh mesh, int64_t rank)
      : tally_(std::move(tally)), mesh_(std::move(mesh)), rank_(rank) {}
  int64_t rank() const override { return rank_; }
  const Mesh& mesh() const override { return mesh_; }
  Result<std::unique_ptr<Channel>> channel(std::span<const uint8_t> axes) override {
    int64_t member = 0, size = 1;
    for (const uint8_t axis : axes) {
      if (!mesh_.has_axis(axis))
        return invalid_argument("the axes of a group are dims of the mesh " + mesh_.to_string() +
                                ", or parts of them");
      member = member * mesh_.size(axis) + mesh_.coordinate(rank_, axis);
      size *= mesh_.size(axis);
    }
    return std::unique_ptr<Channel>(std::make_unique<NullChannel>(tally_, member, size));
  }
  void abort(const Status&) override {}
  void reset() override {}

 private:
  const std::shared_ptr<Tally> tally_;
  const Mesh mesh_;
  const int64_t rank_;
};

}  // namespace

std::unique_ptr<ChannelProvider> make_channels(const NullDevice& device, Mesh mesh, int64_t rank) {
  return std::make_unique<NullProvider>(device.tally(), std::move(mesh), rank);
}

}  // namespace shw::runtime::null
