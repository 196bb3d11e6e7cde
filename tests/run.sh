#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. The last line is "N passed, N failed".
# usage: tests/run.sh [--quick] [--with-frameworks]
#   --quick            the release build's tests only, without those that take longest, sanitizers, fuzzing and benchmarks
#   --with-frameworks  also models of PyTorch and JAX, in a venv of gigabytes (tests/frameworks)
#
# What runs where: The release build runs every test. Sanitizers make code three to thirty times slower, so under them a test is left
# out if others there run the same code. The lists below name these tests. `long`: the same passes and searches on larger graphs.
# `slow`: measurements, and kernels that another backend runs, too. `serial`, for the thread sanitizer: tests without threads of their
# own. Fuzzing takes 20 seconds for each program; run tests/fuzz/run.sh for longer when a parser changes. The time of each part is
# printed after it.
set -uo pipefail
cd "$(dirname "$0")/.."
quick="" frameworks=""
for option in "$@"; do
  case $option in
    --quick) quick=$option ;;
    --with-frameworks) frameworks=$option ;;
    *) echo "unknown option $option"; exit 2 ;;
  esac
done
passed=0 failed=0 failures=""
jobs=$(nproc)
tests=$((jobs + (jobs + 1) / 2))  # run at once; tests with several ranks spend much of their time waiting
all=ON
threaded="unit_support unit_runtime unit_runtime_cpu unit_solver unit_e2e cts capi_threads capi_tasks capi_run capi_cancel capi_lifetime"  # tests with threads, for the thread sanitizer
mkdir -p build

examples/install_packages.sh test || { echo "0 passed, 1 failed"; exit 1; }

# Builds a preset, runs its ctests (or only those named) and counts them.
suite() {
  local preset=$1 only began=$SECONDS
  shift
  only=$(IFS='|'; echo "$*")
  echo "== $preset: build"
  if ! { cmake --preset "$preset" -DBUILD_TESTING=ON -DSHW_TEST_ALL="$all" -DSHW_UNITY=ON >"build/$preset.log" 2>&1 &&
         cmake --build --preset "$preset" -j"$jobs" ${only:+--target "$@"} >>"build/$preset.log" 2>&1; }; then
    grep -E "error|Error|FAILED" -A5 "build/$preset.log" | head -60
    failed=$((failed + 1)); echo "FAILED: build of $preset"; return 1
  fi
  rm -f "build/$preset.log"
  echo "== $preset: test, after $((SECONDS - began)) s of building"
  began=$SECONDS
  local log="build/$preset/ctest.log"
  ctest --test-dir "build/$preset" --output-on-failure -j"$tests" ${only:+-R "^($only)(\\.[0-9])?$"} | tee "$log" | grep -E "Test +#|\*\*\*|tests passed|^\[  FAILED" || true
  local p f
  echo "== $preset: tested in $((SECONDS - began)) s"
  p=$(grep -cE "^ *[0-9]+/[0-9]+ Test +#.* Passed" "$log")
  f=$(grep -cE "^ *[0-9]+/[0-9]+ Test +#.*(\*\*\*Failed|\*\*\*Timeout|\*\*\*Exception|\*\*\*Not Run|Subprocess aborted)" "$log")
  [ $((p + f)) -gt 0 ] || f=1
  passed=$((passed + p)); failed=$((failed + f))
  [ "$f" = 0 ] || failures+=$(printf '\n== %s:\n' "$preset"; said_by_failed "$log")
}

# The last lines that each failed test of a log printed.
said_by_failed() {
  awk -v last=25 '
    function flush(  i) { for (i = n > last ? n - last : 0; i < n; ++i) print line[i]; n = 0 }
    /^ *[0-9]+\/[0-9]+ Test +#/ { flush(); failed = !/ Passed |\*\*\*Skipped/; if (failed) print; next }
    /^ +Start +[0-9]+: / { next }
    /tests passed, / { flush(); exit }
    failed && NF { line[n++] = $0 }' "$1"
}

# The longest tests, which run the same code as tests on smaller meshes or models, run only in the release build of a whole run.
long='*strided*tp_2_cp_2:*pp_2:Graphs/PlannedOrders.*/6:*Model.OnePercentIsFound:*ZooModel.IsRight/1:*ZooModel.IsRight/2'
long+=':Graphs/ParetoFront.*:Graphs/Explain*llama8b*:Large/PlanThreads.*:WideProblem.*/1:StatedLayout.PrunesWhatIsPriced'
long+=':PyTorchModel.IsRight:*FindsOnePercentOfTheNorm/*16:*FindsOnePercentOfTheNorm/f64:MemoryLimit.SaysNoOnlyWhereThatIsProven'
long+=':Redistribute.MovesDataBitExactlyInACube:RouteBytes.*FiveAndSix*:Search.GivesUpWhatCannotBeAmongTheBest'
long+=':Layouts/*vocabulary_*:Layouts/*dp_?:Layouts/*dp_16:Layouts/*replicated*'
long+=':RecomputeAuto.GivesTheSameBitsFromLessMemory:Graphs/Explain.ForcedTotals*/llama_tiny*:Fastest.StaysWithinTheMemoryLimit:Graphs/Limited.*/Case0:Graphs/Limited.*/Case1'
long+=':LowestLimit.*:RecomputeAuto.GivesTheSameBitsWithHostMemory:Graphs/Limited.*/Case2:*.OnThe128RanksOfTheReference'
long+=':Fastest.TimeFallsAsTheLimitRises:RecomputeApart.GivesTheSameBitsWithHostMemory'
long+=':DeepProblem.*:LimitsOfManySteps.*:NamedLimit.*:LimitOnManyLayers.*:ArenaOfManyLayers.*:Meshes/CompareOn*cp_2*:Graphs/Explain.Floors*llama_tiny*:Graphs/Ranges*llama_tiny*'
if [ "$quick" = --quick ]; then
  all=OFF
  GTEST_FILTER="-$long" suite release
else
  suite release
  # Times are not measured under sanitizers, which make the code ten times slower. Other tests run the same kernels and solvers on
  # smaller inputs. Compilers of device code are not our code.
  slow='PassesTime.*:Measure.D*:Measure.S*:Measure.F*:Measure.P*:Measure.T*:*NvrtcCompiles*:*BackwardIsTheDerivative/cuda*:*IsAMaskOfSequences*/cuda*'
  slow+=':Budgets.OnThreads*:Budgets.AreSolvedAlike*:Budgets.MatchLpSolve:Solve.MatchesLpSolveOnMedium*'
  slow+=':SimulatedFront.SeesWhat*:SimulatedFront.AgreesWith*:*LimitOnThreeDims*:RecomputeAuto.NamesALimit*:LimitsOfAHybrid.*:FlashTest.HasAWindow:Uneven.EveryChangeOfLayout*'
  # Kernels on fakes whose code other tests on fakes run: the larger of two alike.
  slow+=':CudnnAttentionTest.AgreesWithTheCpu:Graphs/CudaCollectives.*/0:CudaPacks.WindowsOfAllKindsHaveTheSameBits:CudaFused.ATrainingStepOfLlamaHasTheSameBits'
  slow+=':CudaMeasure.DescribesOneDeviceWithoutLinks:*AttentionDropoutTest.ForwardOfManyBlocksAndEveryShare/cuda*:*AttentionWindowTest.WhatIsFarFromTheWindowIsNotComputed/cuda*'
  # The planner on larger graphs and meshes; smaller ones of the same tests run.
  slow+=':Meshes/CompareOn.*/dp_4_tp_4:Meshes/CompareOn.*/dp_8_tp_8:Small/PlanThreads.*/6:Graphs/Arena.*/Graph3:Graphs/Arena.*/Graph6:Models/RecomputedProducts.*/3:Models/RecomputedProducts.*/4'
  slow+=':Graphs/PlannedPrice.*/4:Graphs/PlannedPrice.*/11:Graphs/StepBound.*/Case2:Graphs/StepBound.*/Case4:Graphs/ShareChanges.*/1:Meshes/Training.*/a_2_b_2_c_2'
  # Searches whose parts other tests run, and models that are covered by smaller ones.
  slow+=':Fastest.ALimitThatBinds*:LimitsOfManySteps.Corners*:Graphs/ShareChanges.ExplanationsAreOfTheSamePlan/2:Policies/On128Ranks.*:MeasuredHardware.NothingOverlaps*'
  slow+=':SplitRowsWithinALimit.*:Compare.ByPriceNoRecipeIsCheaper:Compare.TheFastestIsNoSlowerThanTheCheapest:ExplainOneNode.HoldsUnderALimitOfMemory'
  slow+=':WantedProgram.*:MeshDimsOfOneRank.CostNothing:SimulatedFront.Has*:WideProblem.*:LocalCollective.SharesWorkLargerThanCaches'
  slow+=':WithoutAPass.*:*Training.EntriesAreAlsoPlannedAlone/*:Layers/StridedFamilyOnLlama.*:Problems/Compat.ProblemIsTheReferences/*'
  slow+=':CudnnAttentionTest.WhatItDoesNotKnow*:Plans/CudaTrainingStep.*/1:Plans/CudaTrainingStep.*/2:Budgets.HaveOneOptimum*'
  # The strict backend runs the CPU's kernels, which are tested on the CPU backend.
  slow+=':*AttentionTest.*/strict:*PackedDocumentsTest.*/strict:*AttentionWindowTest.*/strict:*AttentionDropoutTest.*/strict:*ContractionTest.*/strict:*MoveTest.*/strict:*PointwiseTest.*/strict:*ReductionTest.*/strict'
  GTEST_FILTER="-$long:$slow" suite asan
  tests/lint/tidy.py && passed=$((passed + 1)) || failed=$((failed + 1))
  # unit_e2e runs only two models in some layouts, since single ops and moves, thousands of runs of one step, and more models use no
  # other threads. unit_solver and cts run only tests with threads; a kernel uses only those of its stream.
  serial='Ops/*:WithoutAPass.*:Uneven.*:Layouts/*uneven*:Zoo/*'
  serial+=':*Training.*/a_2_b_2_c_2:Budgets.HaveOneOptimumIfTheIncumbentIsImproved:Budgets.OnThreadsStopWhenAProgressCallSaysSo:Fronts*'
  serial+=':PassesTime.*:FilledWaits.*:*EntriesAreAlsoPlannedAlone*:*MatchLpSolve*:*MatchesLpSolve*:WarmStart.*:Certificate.*:Floors.*:Layers/Strided*:Graphs/PlannedOrders.*:Gemm.*:PackedGemm.*:SplitGemm.*:LargeProducts.*'
  serial+=':*AttentionTest.*:*AttentionWindowTest.*:*AttentionDropoutTest.*:*PackedDocumentsTest.*:*ContractionTest.*:*PointwiseTest.*:*MoveTest.*:*GroupedTest.*'
  # Parts of the solver that use one thread, and loops of kernels whose data no other thread accesses.
  serial+=':Trws.B*:Trws.I*:Trws.R*:LocalSearch.*:Exported/*:Contest/*:Eliminate.*:Presolve.*:PriceBundle.*:Recombine.*:RoundedTable.*:Survey.*:FoldLayers.*'
  serial+=':Budgets.*BruteForce*:Budgets.AreKept*:Budgets.TakeWork*:Budgets.StopAfterTheirWork:*AtTheTimeLimit:Solve.Matches*:Solve.Finds*'
  serial+=':CompiledGroup.*:Seeds/*:Math.*:DirectGemm.*:RowSums.*'
  GTEST_FILTER="-$serial:$long" suite tsan $threaded
  tests/fuzz/run.sh 20 && passed=$((passed + 1)) || failed=$((failed + 1))
fi
if [ -n "$frameworks" ]; then
  python3 tests/frameworks/run.py build/release && passed=$((passed + 1)) || failed=$((failed + 1))
else
  echo "not run: models of PyTorch and JAX, which tests/run.sh --with-frameworks installs; stored graphs of such models were run"
fi
[ -z "$failures" ] || echo "$failures"
echo "in $((SECONDS / 60)) minutes"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
