// read_plan on any bytes must return a status or a sound plan, and an accepted plan is run
// (plan_fuzz_run.h). The trailer is repaired first, so that the fuzzer's changes pass the checksum.
// The seeds of the corpus are whole plans.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "plan/plan.h"
#include "plan_fuzz_run.h"
#include "support/hash.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using shw::Plan;
  (void)shw::read_plan({data, size}).ok();  // unrepaired input, which mostly fails the checksum
  if (size < 24) return 0;
  std::vector<uint8_t> bytes(data, data + size);
  const uint32_t trailer[2] = {1, 0};
  std::memcpy(bytes.data() + size - 16, trailer, sizeof trailer);
  const uint64_t hash = shw::hash_bytes(bytes.data(), size - 8);
  std::memcpy(bytes.data() + size - 8, &hash, sizeof hash);
  const shw::Result<Plan> plan = shw::read_plan(bytes);
  if (!plan.ok()) return 0;
  // An accepted plan is sound, can be printed, and is unchanged after writing and reading.
  if (shw::to_text(plan->program).empty()) std::abort();
  const std::vector<uint8_t> written = shw::write_plan(*plan);
  const shw::Result<Plan> again = shw::read_plan(written);
  if (!again.ok() || shw::write_plan(*again) != written) std::abort();
  constexpr uint64_t kThreadsEvery = 16;  // a run with threads takes longer than all other work
  if (shw::fuzz::is_small(plan->program))
    shw::fuzz::run_plan(*plan, plan->checksum % kThreadsEvery == 0);
  return 0;
}
