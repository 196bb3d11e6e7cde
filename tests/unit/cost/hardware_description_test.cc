// Descriptions of hardware. A full description prices like the built-in machine. A partial one
// changes only what it names. Every mistake is refused with the key that contains it.
#include "cost/hardware_description.h"

#include "cost/roofline.h"
#include "test_machines.h"

namespace shw::cost {
namespace {

Hardware described(const std::string& json) {
  const auto hardware = parse_hardware(json);
  EXPECT_TRUE(hardware.ok()) << json << ": " << hardware.status().message();
  return hardware.ok() ? *hardware : Hardware{};
}

// Compares every price that the planner could ask for, on meshes inside a node, over several nodes,
// and over parts of nodes.
void expect_equal_prices(const Hardware& a, const Hardware& b) {
  for (const char* mesh : {"8", "2x8", "4x4x4", "144", "3x5"}) {
    const CollectiveModel left = model_of(a, mesh), right = model_of(b, mesh);
    for (uint32_t group = 1; group < 1u << left.mesh().rank(); ++group)
      for (int c = 0; c < 4; ++c)
        for (int64_t bytes : {int64_t{0}, int64_t{4096}, int64_t{1} << 20, int64_t{1} << 30})
          ASSERT_EQ(left.us_combined(static_cast<Collective>(c), group, bytes),
                    right.us_combined(static_cast<Collective>(c), group, bytes))
              << mesh << " " << group << " " << c << " " << bytes;
  }
  for (Dtype dtype : {Dtype::kF64, Dtype::kF32, Dtype::kF16, Dtype::kBF16, Dtype::kI8}) {
    const auto us = [&](const Hardware& h) {
      return Roofline(h.device).compute_us(1e12, 1e9, dtype);
    };
    ASSERT_EQ(us(a).ok(), us(b).ok());
    if (us(a).ok()) {
      ASSERT_EQ(*us(a), *us(b));
    }
  }
}

TEST(HardwareDescription, OfEveryKnownMachinePricesAsThatMachine) {
  for (std::string_view name : hardware_names()) {
    SCOPED_TRACE(std::string(name));
    const Hardware built_in = *hardware_by_name(name);
    const std::string text = hardware_json(built_in);
    const Hardware read = described(text);
    EXPECT_EQ(read.name, name);
    EXPECT_EQ(hardware_json(read), text);
    expect_equal_prices(built_in, read);
    expect_equal_prices(built_in, described(R"({"base": ")" + std::string(name) + "\"}"));
  }
}

TEST(HardwareDescription, ChangesWhatItNamesAndKeepsTheRest) {
  const Hardware ours = described(
      R"({"base": "NVIDIA H100 80GB HBM3", "name": "ours", "comment": "half the network",
          "device": {"flops_per_s": {"bf16": 5e14}}, "nccl": {"inter_gb_per_s": 25}})");
  const Hardware h100 = machine("h100");
  EXPECT_EQ(ours.name, "ours");
  EXPECT_EQ(ours.device.flops_bf16, 5e14);
  EXPECT_EQ(ours.device.flops_f16, h100.device.flops_f16);
  EXPECT_EQ(ours.device.memory_bytes_per_s, h100.device.memory_bytes_per_s);
  EXPECT_EQ(ours.nccl->bw_inter_gbps, 25);
  EXPECT_EQ(ours.nccl->bw_intra_gbps, 320);
  EXPECT_EQ(ours.nccl->num_channels, 16);
  EXPECT_FALSE(described(R"({"base": "h100", "nccl": null})").nccl.has_value());
}

TEST(HardwareDescription, StandsAlone) {
  const Hardware alone = described(
      R"({"name": "x", "device": {"memory_bytes_per_s": 1e12},
          "nccl": {"architecture": "ampere", "devices_per_node": 4, "intra_gb_per_s": 80,
                   "inter_gb_per_s": 12, "nvswitch": false}})");
  EXPECT_EQ(alone.nccl->num_channels, 12) << "NCCL's default of the architecture";
  EXPECT_EQ(alone.device.efficiency, 0.7);
  EXPECT_FALSE(Roofline(alone.device).compute_us(1, 8, Dtype::kF32).ok()) << "no rate was said";
  EXPECT_TRUE(Roofline(alone.device).compute_us(0, 8, Dtype::kF32).ok());
}

TEST(HardwareDescription, MeasurementsComeBeforeModels) {
  const Hardware measured = described(
      R"({"base": "h100", "measured": [
          {"collective": "all_gather", "nodes": 1, "devices_per_node": 8,
           "lines": [{"latency_us": 10, "gb_per_s": 50}, {"latency_us": 30, "gb_per_s": 300}]}]})");
  const CollectiveModel model = model_of(measured, "8"), base = model_of(machine("h100"), "8");
  EXPECT_TRUE(agrees(model.us(Collective::kAllGather, 0, 1000), 10 + 1000 / 50e3));
  EXPECT_TRUE(agrees(model.us(Collective::kAllGather, 0, 1 << 30), 30 + (1 << 30) / 300e3));
  EXPECT_EQ(model.us(Collective::kAllReduce, 0, 1 << 20),
            base.us(Collective::kAllReduce, 0, 1 << 20));
  EXPECT_EQ(model_of(measured, "2x4").us(Collective::kAllGather, 1, 1 << 20),
            model_of(machine("h100"), "2x4").us(Collective::kAllGather, 1, 1 << 20))
      << "another group";
}

TEST(HardwareDescription, RefusesMistakesByKey) {
  const std::string base = R"({"base": "h100", )";
  const std::pair<std::string, const char*> cases[] = {
      {"", "not JSON at byte"},
      {"[]", "is not a JSON object"},
      {R"({"base": "h1"})", "unknown hardware 'h1'"},
      {R"({"base": 7})", "base is not a string"},
      {R"({"device": {"memory_bytes_per_s": 1e12}})", "name is missing"},
      {R"({"name": "x"})", "device is missing"},
      {R"({"name": "x", "device": {}})", "device.memory_bytes_per_s is missing"},
      {R"({"name": "x", "device": {"memory_bytes_per_s": 1e12}, "nccl": {}})",
       "nccl.architecture is missing"},
      {base + R"("bandwidth": 1})", "bandwidth is not known here: known are base, name"},
      {base + R"("name": ""})", "name is missing, empty"},
      {base + R"("device": 1})", "device is not an object"},
      {base + R"("device": {"memory": 1}})", "device.memory is not known here"},
      {base + R"("device": {"memory_bytes_per_s": "3"}})", "memory_bytes_per_s is not a number"},
      {base + R"("device": {"memory_bytes_per_s": 0}})", "memory_bytes_per_s is not a number from"},
      {base + R"("device": {"memory_bytes_per_s": NaN}})", "not JSON at byte"},
      {base + R"("device": {"memory_bytes_per_s": 1e999}})", "not JSON at byte"},
      {base + R"("device": {"flops_per_s": {"bf16": -1}}})", "device.flops_per_s.bf16 is not 0 or"},
      {base + R"("device": {"flops_per_s": {"fp8": 1}}})", "device.flops_per_s.fp8 is not known"},
      {base + R"("device": {"efficiency": 1.1}})",
       "device.efficiency is not a number from 1e-6 to 1"},
      {base + R"("nccl": {"architecture": "volta"}})", "is not one of ampere, hopper, blackwell"},
      {base + R"("nccl": {"devices_per_node": 0}})", "nccl.devices_per_node is not a whole number"},
      {base + R"("nccl": {"devices_per_node": 7.5}})",
       "nccl.devices_per_node is not a whole number"},
      {base + R"("nccl": {"channels": 1e30}})", "nccl.channels is not a whole number"},
      {base + R"("nccl": {"nvswitch": 1}})", "nccl.nvswitch is not true or false"},
      {base + R"("nccl": {"inter_gb_per_s": -5}})", "nccl.inter_gb_per_s is not a number from"},
      {base + R"("nccl": {"intra_gb_per_s": null}})", "nccl.intra_gb_per_s is not a number"},
      {base + R"("ring": {"start_us": -1}})", "ring.start_us is not a number from 0"},
      {base + R"("ring": null})", "ring is not an object"},
      {base + R"("measured": [1]})", "measured[0] is not an object"},
      {base + R"("measured": [{"collective": "gather"}]})", "measured[0].collective is not one of"},
      {base + R"("measured": [{"collective": "all_gather", "nodes": 1, "devices_per_node": 8,
                 "lines": []}]})",
       "measured[0].lines is not a list of at least one"},
      {base + R"("measured": [{"collective": "all_gather", "nodes": 1, "devices_per_node": 8,
                 "lines": [{"latency_us": 1, "gb_per_s": 0}]}]})",
       "measured[0].lines.gb_per_s is not"},
      {base + R"("measured": [{"collective": "all_gather", "nodes": 1, "devices_per_node": 1,
                 "lines": [{"latency_us": 1, "gb_per_s": 1}]}]})",
       "is not of a group of several"},
      {base + R"("name": "a", "name": "b"})", "\"name\" stands twice"},
  };
  for (const auto& [json, says] : cases) {
    const auto hardware = parse_hardware(json);
    ASSERT_EQ(hardware.status().code(), Code::kInvalidArgument) << json;
    EXPECT_NE(hardware.status().message().find(says), std::string::npos)
        << json << "\n"
        << hardware.status().message();
  }
}

TEST(HardwareDescription, IsTakenWhereANameIs) {
  EXPECT_EQ(find_hardware("a100")->name, "a100");
  EXPECT_EQ(find_hardware(" \n{\"base\": \"a100\", \"name\": \"b\"}")->name, "b");
  EXPECT_FALSE(find_hardware("").ok());
}

TEST(HardwareDescription, HasThePeaksOfDataSheetsForLinksOutsideNccl) {
  EXPECT_TRUE(agrees(machine("mi300x").ring.bw_intra_gbps, 313.6));
  EXPECT_TRUE(agrees(machine("l4").ring.bw_intra_gbps, 22.4));
  EXPECT_EQ(machine("l4").device.flops_bf16, 121e12);
  EXPECT_EQ(model_of(machine("cpu"), "64").topology(0).nodes, 1) << "virtual ranks share a process";
  EXPECT_NEAR(model_of(machine("cpu"), "8").us(Collective::kAllReduce, 0, 4096), 59, 20)
      << "measured: 59 µs";
}

std::string with_device(const std::string& member) {
  return R"({"base": "cpu", "name": "ours", "device": {)" + member + "}}";
}
constexpr char kTable[] =
    R"("kernels": [{"kernel": "add", "dtype": "f32", "sizes": [[1, 8], [4]], "us": [0.25, 2]}])";

TEST(HardwareDescription, KeepsWhatWasMeasuredOfADevice) {
  const std::string text = R"({"base": "cpu", "name": "ours", "device": {"shared_cores": 2, )" +
                           std::string(kTable) +
                           R"(}, "bases": [{"figure": "device.launch_us", "basis": "measured"},
                      {"figure": "ring.inter_gb_per_s", "basis": "fallback"}]})";
  const Hardware hardware = described(text);
  EXPECT_EQ(hardware.device.shared_cores, 2);
  const std::vector<KernelTimes> tables = {{"add", Dtype::kF32, {{1, 8}, {4}}, {0.25, 2}}};
  EXPECT_EQ(hardware.device.kernels, tables);
  const std::vector<FigureBasis> bases = {{"device.launch_us", Basis::kMeasured},
                                          {"ring.inter_gb_per_s", Basis::kFallback}};
  EXPECT_EQ(hardware.bases, bases);
  const std::string written = hardware_json(hardware);
  EXPECT_EQ(hardware_json(described(written)), written);
  EXPECT_EQ(described(written).device.kernels, tables);
  EXPECT_EQ(described(written).bases, bases);
}

TEST(HardwareDescription, RefusesTablesThatAreNone) {
  const auto kernels = [](const std::string& table) {
    return with_device(R"("kernels": [{)" + table + "}]");
  };
  const std::pair<std::string, std::string> cases[] = {
      {with_device(R"("shared_cores": 0)"), "device.shared_cores is not a whole number"},
      {kernels(R"("kernel": "add", "dtype": "f33", "sizes": [[1]], "us": [1])"), "is no dtype"},
      {kernels(R"("kernel": "", "dtype": "f32", "sizes": [[1]], "us": [1])"), "kernels[0].kernel"},
      {kernels(R"("kernel": "add", "dtype": "f32", "sizes": [[1]])"), "us is missing"},
      {kernels(R"("kernel": "add", "dtype": "f32", "sizes": [1], "us": [1])"), "list of lists"},
      {kernels(R"("kernel": "add", "dtype": "f32", "sizes": [[0]], "us": [1])"), "from 1 on"},
      {kernels(R"("kernel": "add", "dtype": "f32", "sizes": [[2, 2]], "us": [1, 1])"), "ascending"},
      {kernels(R"("kernel": "add", "dtype": "f32", "sizes": [[1], [1], [1], [1]], "us": [1])"),
       "one to three lists"},
      {kernels(R"("kernel": "add", "dtype": "f32", "sizes": [[1, 2]], "us": [1])"), "each point"},
      {kernels(R"("kernel": "add", "dtype": "f32", "sizes": [[1]], "us": [0])"), "from 1e-6"},
      {kernels(R"("kernel": "add", "dtype": "f32", "sizes": [[1]], "us": ["1"])"),
       "list of numbers"},
      {R"({"base": "cpu", "bases": [{"figure": "x", "basis": "guessed"}]})", "bases[0].basis"},
      {R"({"base": "cpu", "bases": [{"figure": "x", "basis": ""}]})", "bases[0].basis is empty"}};
  for (const auto& [text, says] : cases) {
    const auto hardware = parse_hardware(text);
    ASSERT_FALSE(hardware.ok()) << text;
    EXPECT_EQ(hardware.status().code(), Code::kInvalidArgument);
    EXPECT_NE(hardware.status().message().find(says), std::string::npos)
        << hardware.status().message();
  }
  const std::string one(kTable), entry = one.substr(12, one.size() - 13);
  EXPECT_FALSE(parse_hardware(with_device(R"("kernels": [)" + entry + ", " + entry + "]")).ok())
      << "a kernel twice";
}

}  // namespace
}  // namespace shw::cost
