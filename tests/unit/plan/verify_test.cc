#include <gtest/gtest.h>

#include <functional>

#include "plan/happens_before.h"
#include "sample.h"

namespace shw {
namespace {

using testing::sample_program;

TEST(Verify, AcceptsASoundProgram) {
  const Status s = verify(sample_program(), true);
  EXPECT_TRUE(s.ok()) << s.message();
}

void set_piece(ProgramStep& step, std::vector<int64_t> cuts) {
  step.attrs.set(AttrKey::kSize, std::vector<int64_t>{8, 8});
  step.attrs.set(AttrKey::kCuts, std::move(cuts));
}

struct Damage {
  const char* name;
  std::function<void(Program&)> doing;
  const char* says;
};

TEST(Verify, RefusesWhatIsNotSound) {
  const Damage damages[] = {
      {"mesh", [](Program& p) { p.mesh[0].size = 0; }, "sizes are at least 1"},
      {"storage kind", [](Program& p) { p.storages[StorageId{0}].kind = StorageKind(11); },
       "unknown kind"},
      {"scratch of a port", [](Program& p) { p.storages[StorageId{3}].port = 0; },
       "storage 3: it is scratch, and says that it belongs to a port"},
      {"storage size", [](Program& p) { p.storages[StorageId{0}].bytes = -1; }, "impossible size"},
      {"arena alignment", [](Program& p) { p.storages[StorageId{3}].offset_bytes = 8; },
       "multiple of 256"},
      {"arena end", [](Program& p) { p.storages[StorageId{3}].offset_bytes = 512; },
       "beyond the arena"},
      {"value storage", [](Program& p) { p.values[ValueId{0}].storage = StorageId{99}; },
       "no such storage"},
      {"negative dim", [](Program& p) { p.values[ValueId{0}].type.shape[0] = -2; }, "negative"},
      {"window", [](Program& p) { p.values[ValueId{2}].type.strides[0] = 8; }, "does not fit"},
      {"huge stride", [](Program& p) { p.values[ValueId{2}].type.strides[0] = 1ll << 58; },
       "does not fit"},
      {"offset", [](Program& p) { p.values[ValueId{0}].offset_bytes = 4; }, "does not fit"},
      {"odd offset", [](Program& p) { p.values[ValueId{0}].offset_bytes = 1; }, "not aligned"},
      {"operand", [](Program& p) { p.steps[1].inputs[0] = ValueId{77}; }, "no such value"},
      {"kernel", [](Program& p) { p.steps[1].kernel.clear(); }, "no kernel"},
      {"permute without an order",
       [](Program& p) { p.steps[3].collective.kind = CollectiveKind::kPermute; },
       "the order of axes after it"},
      {"permute to other axes",
       [](Program& p) {
         p.steps[3].collective = {CollectiveKind::kPermute, ReduceOp::kSum, {1, 0}, {0, 0}};
       },
       "the order of axes after it"},
      {"an order that is no permute's",
       [](Program& p) {
         p.steps[3].collective.to_axes = {0, 1};
       },
       "the order of axes after it"},
      {"place without size",
       [](Program& p) {
         p.steps[1].attrs.set(AttrKey::kCuts, std::vector<int64_t>{0, 0});
       },
       "where it lies"},
      {"place of mesh dim",
       [](Program& p) {
         set_piece(p.steps[1], {2, 0});
       },
       "where it lies"},
      {"place of tensor dim",
       [](Program& p) {
         set_piece(p.steps[1], {0, 2});
       },
       "where it lies"},
      {"place cut twice",
       [](Program& p) {
         set_piece(p.steps[1], {1, 0, 1, 1});
       },
       "where it lies"},
      {"place of half a cut", [](Program& p) { set_piece(p.steps[1], {1}); }, "where it lies"},
      {"stream", [](Program& p) { p.steps[1].stream = 3; }, "no such stream"},
      {"no streams", [](Program& p) { p.streams.clear(); }, "0 streams: expected 1 to 32"},
      {"many streams",
       [](Program& p) { p.streams.resize(kMaxStreams + 1, {StreamKind::kCommunication}); },
       "33 streams: expected 1 to 32"},
      {"kind of stream", [](Program& p) { p.streams[2].kind = StreamKind(5); },
       "stream 2: the first stream computes, the others communicate or copy"},
      {"two that compute", [](Program& p) { p.streams[1].kind = StreamKind::kCompute; },
       "stream 1: the first stream computes"},
      {"axes of stream", [](Program& p) { p.streams[1].axes = {2}; },
       "stream 1: its axes are not distinct mesh dims"},
      {"a part that no dim has", [](Program& p) { p.streams[1].axes = {kFirstMeshPart}; },
       "stream 1: its axes are not distinct mesh dims"},
      {"a part beside its dim",
       [](Program& p) {
         p.mesh[1].parts = {p.mesh[1].size};
         p.streams[1].axes = {1, kFirstMeshPart};
       },
       "stream 1: its axes are not distinct mesh dims"},
      {"parts of another size", [](Program& p) { p.mesh[1].parts = {p.mesh[1].size + 1}; },
       "its size is not the product of its parts"},
      {"axes of compute", [](Program& p) { p.streams[0].axes = {0}; },
       "stream 0: its axes are not distinct mesh dims"},
      {"communicator twice", [](Program& p) { p.streams[2].axes = {1}; },
       "stream 2: an earlier stream has the same communicator"},
      {"wrong communicator", [](Program& p) { p.steps[0].stream = 2; },
       "stream 2 is for other links"},
      {"collective", [](Program& p) { p.steps[0].collective.kind = CollectiveKind(7); },
       "no such collective"},
      {"basis", [](Program& p) { p.steps[0].basis = PriceBasis(5); }, "no such basis"},
      {"reduction", [](Program& p) { p.steps[3].collective.op = ReduceOp(9); },
       "no such reduction"},
      {"axes twice",
       [](Program& p) {
         p.steps[3].collective.axes = {1, 1};
       },
       "distinct"},
      {"axis", [](Program& p) { p.steps[3].collective.axes = {2}; }, "distinct"},
      {"no axes", [](Program& p) { p.steps[3].collective.axes = {}; }, "no axes"},
      {"group size", [](Program& p) { p.streams[1].axes = p.steps[0].collective.axes = {0}; },
       "among 2 ranks"},
      {"collective operands", [](Program& p) { p.steps[0].inputs.push_back(ValueId{0}); },
       "one operand"},
      {"read before written", [](Program& p) { p.steps[1].inputs[0] = ValueId{5}; },
       "before it is written"},
      {"written twice", [](Program& p) { p.steps[2].outputs[0] = ValueId{4}; }, "overwrites"},
      {"input written", [](Program& p) { p.steps[2].outputs[0] = ValueId{1}; }, "an input"},
      {"strided result", [](Program& p) { p.steps[2].outputs[0] = ValueId{2}; }, "not contiguous"},
      {"event unrecorded", [](Program& p) { p.steps[1].waits = {1}; }, "no earlier step"},
      {"event range", [](Program& p) { p.steps[1].waits = {5}; }, "no earlier step"},
      {"event twice", [](Program& p) { p.steps[2].records = 0; }, "twice"},
      {"no wait", [](Program& p) { p.steps[1].waits.clear(); }, "may not be there yet"},
      {"entry steps", [](Program& p) { p.entries[0].num_steps = 3; }, "no entry owns"},
      {"entry range", [](Program& p) { p.entries[0].num_steps = 5; }, "not the next ones"},
      {"port role", [](Program& p) { p.ports[PortId{0}].role = PortRole::kResult; },
       "the port's own"},
      {"port layout", [](Program& p) { p.ports[PortId{0}].layout = Layout{}; },
       "not one rank's piece"},
      {"port order", [](Program& p) { p.ports[PortId{0}].layout.order[0] = 3; }, "shard order"},
      {"port too small", [](Program& p) { p.ports[PortId{0}].global.shape[0] = 1; },
       "element for every rank"},
      {"port number", [](Program& p) { p.storages[StorageId{1}].port = 0; }, "the port's own"},
      {"output unwritten", [](Program& p) { p.steps[3].outputs[0] = ValueId{6}; }, "overwrites"},
      {"bytes still in use", [](Program& p) { p.storages[StorageId{3}].offset_bytes = 0; },
       "may still be using"},
  };
  for (const Damage& d : damages) {
    SCOPED_TRACE(d.name);
    Program p = sample_program();
    d.doing(p);
    const Status s = verify(p, true);
    ASSERT_FALSE(s.ok());
    EXPECT_NE(s.message().find(d.says), std::string::npos) << s.message();
  }
}

// The sample program as the bucket n=8 of an entry. input.0 is [n,2*n-8].
Program sample_bucket() {
  Program p = sample_program();
  p.symbols = {{"n", 4, 64, 4, 4}, {"other", 1, 2, 1, 1}};
  p.entries[0].bucket_of = "all";
  p.entries[0].bucket = {8, -1};
  p.ports[PortId{0}].sizes = {{0, {{0, 1}}}, {-8, {{0, 2}}}};
  return p;
}

TEST(Verify, RefusesBucketsThatAreNotSound) {
  EXPECT_TRUE(verify(sample_bucket(), true).ok()) << verify(sample_bucket(), true).message();
  const Damage damages[] = {
      {"a size missing", [](Program& p) { p.entries[0].bucket = {8}; }, "not one of 2 symbols"},
      {"a bucket of nothing", [](Program& p) { p.entries[0].bucket_of.clear(); },
       "not one of 2 symbols"},
      {"no bucket",
       [](Program& p) {
         p.entries[0].bucket_of.clear();
         p.entries[0].bucket.clear();
       },
       "'input.0' has other sizes"},
      {"a size beyond the limit", [](Program& p) { p.entries[0].bucket[1] = 3; },
       "3 is not from 1 to 2"},
      {"a size that is not divided", [](Program& p) { p.entries[0].bucket[0] = 6; },
       "6 is not a multiple of 4"},
      {"another size", [](Program& p) { p.entries[0].bucket[0] = 12; },
       "'input.0' has other sizes"},
      {"a size that is not said", [](Program& p) { p.entries[0].bucket[0] = -1; },
       "'input.0' has other sizes"},
      {"an expression missing", [](Program& p) { p.ports[PortId{0}].sizes.pop_back(); },
       "another number of sizes"},
      {"an unknown symbol", [](Program& p) { p.ports[PortId{0}].sizes[0].terms[0].first = 2; },
       "depends on symbol 2"},
      {"an overflow", [](Program& p) { p.ports[PortId{0}].sizes[0].terms[0].second = INT64_MAX; },
       "'input.0' has other sizes"},
  };
  for (const Damage& d : damages) {
    SCOPED_TRACE(d.name);
    Program p = sample_bucket();
    d.doing(p);
    const Status s = verify(p, true);
    ASSERT_FALSE(s.ok());
    EXPECT_NE(s.message().find(d.says), std::string::npos) << s.message();
  }
}

// A storage's bytes are given to another storage while the communication stream may still be
// reading them.
TEST(Verify, SeesAcrossStreams) {
  Program p = sample_program();
  // This step comes after the all-reduce. It overwrites the all-reduce's operand without waiting
  // for it.
  const StorageId s = p.storages.push_back({128, StorageKind::kArena, UINT32_MAX, 0});
  const ValueId v = p.values.push_back({row_major(Dtype::kF32, {8, 4}), s, 0});
  ProgramStep late;
  late.kernel = "clone";
  late.inputs = {ValueId{1}};
  late.outputs = {v};
  p.steps.push_back(late);
  p.entries[0].num_steps = 5;
  EXPECT_TRUE(verify(p, false).ok());
  const Status refused = verify(p, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("may still be using"), std::string::npos);

  p.steps[3].records = 2;
  p.num_events = 3;
  p.steps[4].waits = {2};
  EXPECT_TRUE(verify(p, true).ok());
}

// `later` is computed from `early`, and the output from `later`. `early` may be placed in the
// output's memory.
struct Lent {
  Lent() {
    p.mesh = {{"x", 2}};
    const TensorType type = row_major(Dtype::kF32, {64});
    const auto value = [&](StorageKind kind, uint32_t port, int64_t offset) {
      return p.values.push_back({type, p.storages.push_back({256, kind, port, offset}), 0});
    };
    const ValueId x = value(StorageKind::kInput, 0, -1);
    early = value(StorageKind::kInOutput, 1, 0);
    later = value(StorageKind::kArena, UINT32_MAX, 0);
    y = value(StorageKind::kOutput, 1, -1);
    for (const auto& [in, out] : {std::pair(x, early), {early, later}, {later, y}})
      add("neg", in, out);
    p.ports.push_back({"input.0", PortRole::kInput, type, Layout{}, x});
    p.ports.push_back({"output", PortRole::kResult, type, Layout{}, y});
    p.entries.push_back(entry({PortId{0}}, {PortId{1}}, 0, 3));
    p.arena_bytes = p.live_peak_bytes = 256;
  }
  static ProgramEntry entry(std::vector<PortId> inputs, std::vector<PortId> outputs, uint32_t first,
                            uint32_t steps) {
    ProgramEntry e;
    e.name = "entry" + std::to_string(first);
    e.inputs = std::move(inputs);
    e.outputs = std::move(outputs);
    e.first_step = first;
    e.num_steps = steps;
    return e;
  }
  void add(const char* kernel, ValueId in, ValueId out) {
    ProgramStep& s = p.steps.emplace_back();
    s.kernel = kernel;
    s.inputs = {in};
    s.outputs = {out};
  }
  ProgramStorage& of(ValueId v) { return p.storages[p.values[v].storage]; }
  void expect_refused(const std::string& why) const {
    const Status s = verify(p, true);
    EXPECT_NE(s.message().find(why), std::string::npos) << why << ": " << s.message();
  }

  Program p;
  ValueId early, later, y;
};

TEST(VerifyLent, ScratchMayLieInAnOutputUntilItIsWritten) {
  const Lent sound;
  EXPECT_TRUE(verify(sound.p, true).ok()) << verify(sound.p, true).message();
  Lent read;  // while the output is written
  read.of(read.later) = {256, StorageKind::kInOutput, 1, 0};
  read.of(read.early) = {256, StorageKind::kArena, UINT32_MAX, 0};
  read.expect_refused("step 2 (neg): storage 3 takes bytes that step 2 may still be using");
  Lent behind;  // after the output was written
  behind.add("neg", ValueId{0}, behind.early);
  behind.p.steps[0].outputs = {behind.later};
  behind.p.steps.erase(behind.p.steps.begin() + 1);
  behind.expect_refused(
      "step 2 (neg): storage 1 takes bytes of output 'output', which has been written to");
}

TEST(VerifyLent, ScratchLiesWithinAnOutputOfItsEntry) {
  Lent beyond;
  beyond.of(beyond.early).offset_bytes = 256;
  beyond.expect_refused("storage 1: it ends beyond the output of 256 bytes");
  Lent askew;
  askew.of(askew.early).offset_bytes = 64;
  askew.expect_refused("offset 64 is not a multiple of 256");
  for (const uint32_t port : {0u, 2u, UINT32_MAX}) {
    Lent nowhere;
    nowhere.of(nowhere.early).port = port;
    nowhere.expect_refused("storage 1: it is in the memory of an output that does not exist");
  }
  Lent other;  // the output belongs to another entry
  other.p.entries = {Lent::entry({PortId{0}}, {}, 0, 2), Lent::entry({}, {PortId{1}}, 2, 1)};
  other.expect_refused("it uses port 'output', which the entry does not have");
}

// Two streams each write one half of an output, and only one of them waits for the scratch in its
// memory.
TEST(VerifyLent, EveryWriterWaitsForTheScratch) {
  Lent t;
  t.p.streams.push_back({StreamKind::kCommunication, {}});
  const TensorType half = row_major(Dtype::kF32, {32});
  const StorageId y = t.p.values[t.y].storage;
  const ValueId first = t.p.values.push_back({half, y, 0});
  const ValueId second = t.p.values.push_back({half, y, 128});
  const ValueId x = t.p.values.push_back({half, t.p.values[ValueId{0}].storage, 0});
  t.p.steps.pop_back();
  t.add("neg", x, first);
  t.add("neg", x, second);
  t.p.steps[3].stream = 1;
  t.p.entries[0].num_steps = 4;
  t.expect_refused("step 3 (neg): storage 3 takes bytes that step 0 may still be using");
  t.p.num_events = 1;
  t.p.steps[1].records = 0;
  t.p.steps[3].waits = {0};
  EXPECT_TRUE(verify(t.p, true).ok()) << verify(t.p, true).message();
}

// The members of a group meet in the order of their steps. If two collectives of a group could run
// at the same time, each rank might enter a different one first.
TEST(Verify, OrdersTheCollectivesOfAGroup) {
  Program p = sample_program();
  p.steps[3].collective.axes = {1};
  p.steps[3].stream = 1;
  EXPECT_TRUE(verify(p, true).ok()) << "steps 0 and 3: in order on their stream";
  p.steps.insert(p.steps.begin() + 1, p.steps[0]);  // gathers again, on the other stream
  ProgramStep& twin = p.steps[1];
  const StorageId storage =
      p.storages.push_back({256, StorageKind::kArena, UINT32_MAX, p.arena_bytes});
  ProgramValue result = p.values[twin.outputs[0]];
  result.storage = storage;
  twin.outputs = {p.values.push_back(result)};
  twin.stream = kComputeStream;
  twin.records = kNoEvent;
  ++p.entries[0].num_steps;
  p.arena_bytes += 256;
  const Status s = verify(p, true);
  EXPECT_NE(s.message().find("step 1 (all_gather): it may run beside step 0"), std::string::npos)
      << s.message();
  twin.waits = {0};
  EXPECT_TRUE(verify(p, true).ok()) << verify(p, true).message();
  twin.waits = {};
  twin.collective.axes = {1, 0};  // another group
  p.values[twin.outputs[0]].type = row_major(Dtype::kF32, {8, 2, 8});
  p.storages[storage].bytes = 512;
  p.arena_bytes += 256;
  EXPECT_TRUE(verify(p, true).ok()) << verify(p, true).message();
}

// relu's result waits in host memory until einsum reads it.
Program with_host_memory() {
  Program p = sample_program();
  const ValueId positive = p.steps[1].outputs[0];
  const TensorType type = p.values[positive].type;
  const auto value = [&](StorageKind kind, int64_t offset) {
    const StorageId s = p.storages.push_back({type.bytes(), kind, UINT32_MAX, offset});
    return p.values.push_back({type, s, 0});
  };
  const ValueId host = value(StorageKind::kHost, 0), back = value(StorageKind::kArena, 512);
  const StreamNumber to = host_stream(p, HostCopy::kToHost);
  const StreamNumber from = host_stream(p, HostCopy::kFromHost);
  const auto copy = [&](const char* kernel, ValueId in, ValueId out, StreamNumber stream) {
    ProgramStep s;
    s.kernel = kernel;
    s.inputs = {in};
    s.outputs = {out};
    s.stream = stream;
    s.records = p.num_events++;
    return s;
  };
  p.steps[1].records = p.num_events++;
  p.steps.insert(p.steps.begin() + 2, {copy("copy_to_host", positive, host, to),
                                       copy("copy_from_host", host, back, from)});
  p.steps[2].waits = {p.steps[1].records};
  p.steps[3].waits = {p.steps[2].records};
  p.steps[4].waits.push_back(p.steps[3].records);
  p.steps[4].inputs[0] = back;
  p.entries[0].num_steps += 2;
  p.arena_bytes = 768;
  p.host_bytes = 256;
  return p;
}

TEST(Verify, CopiesAloneTouchHostMemory) {
  const Program sound = with_host_memory();
  ASSERT_TRUE(verify(sound, true).ok()) << verify(sound, true).message();
  EXPECT_EQ(host_copy(sound, sound.steps[2]), HostCopy::kToHost);
  EXPECT_EQ(host_copy(sound, sound.steps[3]), HostCopy::kFromHost);
  EXPECT_EQ(host_copy(sound, sound.steps[4]), HostCopy::kNone);
  EXPECT_NE(to_text(sound).find("host 256 bytes"), std::string::npos);
  EXPECT_NE(to_text(sound).find("%8: f32[8,8]@host6 = copy_to_host(%5: f32[8,8]@s3) on=link3"),
            std::string::npos)
      << to_text(sound);
  Plan plan;
  plan.program = sound;
  const auto read = read_plan(write_plan(plan));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(to_text(read->program), to_text(sound));

  const Damage damages[] = {
      {"compute reads it", [](Program& p) { p.steps[4].inputs[0] = p.steps[3].inputs[0]; },
       "only copies to and from scratch touch the host"},
      {"compute writes it", [](Program& p) { p.steps[1].outputs.push_back(p.steps[2].outputs[0]); },
       "only copies to and from scratch touch the host"},
      {"an input goes there", [](Program& p) { p.steps[2].inputs[0] = ValueId{0}; },
       "not a copy between scratch and host"},
      {"within the host", [](Program& p) { p.steps[3].outputs[0] = p.steps[3].inputs[0]; },
       "not a copy between scratch and host"},
      {"two operands", [](Program& p) { p.steps[2].inputs.push_back(p.steps[2].inputs[0]); },
       "not a copy between scratch and host"},
      {"another type",
       [](Program& p) { p.values[p.steps[3].outputs[0]].type = row_major(Dtype::kF32, {64}); },
       "not a copy between scratch and host"},
      {"a collective",
       [](Program& p) {
         p.steps[2].collective = {CollectiveKind::kAllReduce, ReduceOp::kSum, {0}};
       },
       "not a copy between scratch and host"},
      {"the other direction", [](Program& p) { p.steps[2].stream = p.steps[3].stream; },
       "is not for such steps"},
      {"on a communicator", [](Program& p) { p.steps[2].stream = p.steps[0].stream; },
       "is not for such steps"},
      {"compute on a link", [](Program& p) { p.steps[1].stream = p.steps[2].stream; },
       "is not for such steps"},
      {"two links", [](Program& p) { p.streams[p.steps[2].stream].kind = StreamKind::kFromHost; },
       "copies in the same direction"},
      {"a link with axes", [](Program& p) { p.streams[p.steps[2].stream].axes = {0}; },
       "not distinct mesh dims, or parts of them, of a communicator"},
      {"not awaited", [](Program& p) { p.steps[3].waits.clear(); }, "may not be there yet"},
      {"beyond the end", [](Program& p) { p.host_bytes = 128; }, "beyond the host memory of 128"},
      {"no size", [](Program& p) { p.host_bytes = -1; }, "impossible arena size"},
      {"not placed",
       [](Program& p) { p.storages[p.values[p.steps[2].outputs[0]].storage].offset_bytes = -1; },
       "offset -1 is not a multiple"},
  };
  for (const Damage& damage : damages) {
    Program p = sound;
    damage.doing(p);
    const Status s = verify(p, true);
    EXPECT_EQ(s.code(), Code::kInvalidArgument) << damage.name;
    EXPECT_NE(s.message().find(damage.says), std::string::npos)
        << damage.name << ": " << s.message();
  }
}

// The same bytes of host memory may hold one storage after another, but not two at a time.
TEST(Verify, HostMemoryIsUsedAgainOnlyWhereItIsFree) {
  Program p = with_host_memory();
  const ProgramStep to = p.steps[2], from = p.steps[3];
  ProgramValue host = p.values[to.outputs[0]], back = p.values[from.outputs[0]];
  host.storage = p.storages.push_back(p.storages[host.storage]);
  back.storage = p.storages.push_back({256, StorageKind::kArena, UINT32_MAX, 768});
  p.arena_bytes = 1024;
  const auto twice = [&](size_t at) {  // the second copy there, before or after the first one back
    Program q = p;
    ProgramStep second = to;
    second.outputs = {q.values.push_back(host)};
    second.records = q.num_events++;
    if (at == 4) second.waits = {from.records};
    ProgramStep second_back = from;
    second_back.inputs = second.outputs;
    second_back.outputs = {q.values.push_back(back)};
    second_back.waits = {second.records};
    second_back.records = kNoEvent;
    q.steps.insert(q.steps.begin() + static_cast<std::ptrdiff_t>(at), second);
    q.steps.insert(q.steps.begin() + 5, second_back);
    q.entries[0].num_steps += 2;
    return verify(q, true);
  };
  EXPECT_TRUE(twice(4).ok()) << twice(4).message();
  EXPECT_NE(twice(3).message().find("storage 6 is used after its bytes went to another"),
            std::string::npos)
      << twice(3).message();
}

// The host memory of a session is not reused, because entries leave values there that other entries
// read.
TEST(Verify, SessionsInHostMemoryKeepEachStorage) {
  Program p = with_host_memory();
  ProgramStorage& host = p.storages[p.values[p.steps[2].outputs[0]].storage];
  host.kind = StorageKind::kHostSession;
  p.host_bytes = 0;
  p.host_session_bytes = 256;
  EXPECT_TRUE(verify(p, true).ok()) << verify(p, true).message();
  EXPECT_NE(to_text(p).find("session in host memory 256 bytes"), std::string::npos);
  EXPECT_NE(to_text(p).find("@host_session6 = copy_to_host"), std::string::npos);
  EXPECT_EQ(host_memory_bytes(p), 256);
  EXPECT_EQ(host_copy(p, p.steps[2]), HostCopy::kToHost);
  Program short_of = p;
  short_of.host_session_bytes = 128;
  EXPECT_NE(verify(short_of, true).message().find("beyond the session in host memory of 128"),
            std::string::npos)
      << verify(short_of, true).message();
  p.storages.push_back(host);
  EXPECT_NE(verify(p, true).message().find("two storages of the session share bytes"),
            std::string::npos)
      << verify(p, true).message();
}

TEST(Program, LinksHaveStreamsOfTheirOwn) {
  Program p;
  EXPECT_EQ(host_stream(p, HostCopy::kToHost), 1);
  EXPECT_EQ(host_stream(p, HostCopy::kFromHost), 2);
  EXPECT_EQ(communication_stream(p, {0}), 3);
  EXPECT_EQ(host_stream(p, HostCopy::kToHost), 1);
  EXPECT_EQ(p.streams.size(), 4u);
}

// Both groups number the same ranks and use the same links.
TEST(Program, OrdersOfTheSameMeshDimsHaveOneStream) {
  Program p;
  EXPECT_EQ(communication_stream(p, {1, 0}), 1);
  EXPECT_EQ(communication_stream(p, {0, 1}), 1);
  EXPECT_EQ(communication_stream(p, {1}), 2);
  EXPECT_EQ(p.streams[1].axes, (std::vector<uint8_t>{0, 1}));
}

TEST(HappensBefore, KnowsStreamsAndEvents) {
  const HappensBefore order(sample_program());
  EXPECT_TRUE(order.before(0, 1));  // by its event
  EXPECT_TRUE(order.before(0, 2));  // and so is what follows in the stream
  EXPECT_TRUE(order.before(2, 3));  // by its event
  EXPECT_TRUE(order.before(1, 3));  // through the step before it
  EXPECT_FALSE(order.before(3, 2));
  EXPECT_EQ(order.first_indices_after()[0], 1u);
  EXPECT_EQ(order.first_indices_after()[3], 4u);
}

TEST(Program, CommunicatorsShareTheLastStreamOnceThereAreMany) {
  Program p;
  const std::vector<uint8_t> first = {0}, late = {200};
  EXPECT_EQ(communication_stream(p, first), 1);
  for (size_t a = 1; a + 1 < kMaxStreams; ++a)
    EXPECT_EQ(communication_stream(p, {static_cast<uint8_t>(a)}), a + 1);
  EXPECT_EQ(p.streams.back().axes.size(), 1u);
  EXPECT_EQ(communication_stream(p, late), kMaxStreams - 1);
  EXPECT_EQ(communication_stream(p, first), 1);
  EXPECT_EQ(p.streams.size(), kMaxStreams);
  EXPECT_TRUE(p.streams.back().axes.empty());
}

TEST(ProgramText, HasOneLineAStep) {
  EXPECT_EQ(to_text(sample_program()),
            "program mesh dp=2 tp=4, arena 512 bytes\n"
            "entry step\n"
            " inputs\n"
            "  input.0: f32[8,8] as RS(0) = %0: f32[2,8]@in0\n"
            "  param.w: f32[8,4] as RR = %1: f32[8,4]@in1\n"
            " outputs\n"
            "  output: f32[8,4] as RR = %7: f32[8,4]@out2\n"
            "  grad.w: f32[] as RR = _\n"
            " steps\n"
            "  %3: f32[4,2,8]@s2 = all_gather[tp](%0: f32[2,8]@in0) on=comm1 records=e0 "
            "recomputed\n"
            "  %5: f32[8,8]@s3 = relu(%4: f32[8,8]@s2) after=e0\n"
            "  %6: f32[8,4]@s4, _ = einsum(%5: f32[8,8]@s3, %2: f32[4,8]{1,4}@in1, _) dim=-1 "
            "dims=[1,-2] keepdim=true dtype=bf16 equation=\"ab,cb->ac\" scale=0.125 records=e1\n"
            "  %7: f32[8,4]@out2 = all_reduce.avg[tp,dp](%6: f32[8,4]@s4) on=comm2 after=e1\n");
}

}  // namespace
}  // namespace shw
