// All numbers of the solver that were chosen, not derived, with what each decides and trades
// ("More: …" states the effects of a larger value). No value changes a proven answer. The values
// affect how soon an answer is proven, and how good it is when the allowed work is used up. Each
// file of the folder has a namespace here.
//
// Tolerances of floating-point sums are not listed here. They follow from the number of additions,
// and are next to the sums.
//
// Work is counted in cells, pairs of labels of an edge that a sweep looks at, so that a plan does
// not depend on the clock. A thread sweeps some 1e9 cells a second.
//
// Comments name the problems on which a value was chosen only if that is recorded. README.md has
// the figures of all problems at these values.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shw::solver::parameters {

namespace presolve {

// Rounds of consistency → dominance → reductions. Two are typical; more find almost nothing.
inline constexpr int kMaxRounds = 8;
// Maximum number of cells that the elimination of a variable of degree two may compute. The new
// matrix must also be no larger than the two that it replaces, because sweeps read it. More: fewer
// variables, but elimination costs more time than the sweeps save.
inline constexpr uint64_t kMaxReductionCells = 1 << 22;

}  // namespace presolve

namespace survey {

// Sweeps over a wide problem before it is presolved. More: pruning with a better incumbent and
// bound, but more sweeps over tables that pruning would have made small.
inline constexpr uint32_t kMaxSweeps = 40;
// These sweeps end when one raises the bound by less than this share of it.
inline constexpr double kSurveyStallShare = 3e-4;
// Sweeps over all labels before the likely labels are swept alone. Fewer: the wrong labels are
// chosen, and the bound needs more sweeps afterwards (LLaMA tiny on 2×2×2×2: 15 sweeps without this
// phase, 25 if it follows one sweep, 9 after three, 12 after four).
inline constexpr uint32_t kSweepsBeforeCore = 3;
// Sweeps up to this many after the core read rounded costs, which takes a fifth of the time. More:
// the bound stalls at what rounding costs. LLaMA tiny on 2×2×2×2 then needs two exact sweeps.
inline constexpr uint32_t kRoundedSweepsAfterCore = 2;
// The survey ends when the labels that could be part of a better answer have at most this share of
// all cells. More: it ends earlier, but presolve copies larger tables.
inline constexpr double kFewCells = 1.0 / 32;

}  // namespace survey

namespace trws {

// Tables with fewer cells are not rounded, since rounding the row of costs would take longer than
// it saves.
inline constexpr uint64_t kRoundedCells = 1 << 10;
// Minimum number of cells of a sweep that threads share; such a sweep takes milliseconds. More than
// two threads would mostly wait: the order of LLaMA-3 405B keeps 1.7 busy.
inline constexpr uint64_t kSharedCells = 1 << 24;
inline constexpr uint32_t kSweepThreads = 2;
// An idle thread looks for work this many times before it yields.
inline constexpr uint32_t kLooksPerTurn = 256;

}  // namespace trws

namespace search {

// Sweeps continue only if the bound has risen enough within this many of them. More: sweeps
// continue through slow rises.
inline constexpr uint32_t kStallSweeps = 12;
// Sweeps over a problem with fewer cells read exact costs only: its tables fit the caches, and the
// sweeps take few milliseconds.
inline constexpr uint64_t kManyCells = 1 << 20;
// The cost of dropping labels, for each remaining cell and for each edge, in cells that could be
// swept in the same time. Measured.
inline constexpr double kDropPerCell = 10, kDropPerEdge = 400;
// If floors are kept, only labels whose bound exceeds the incumbent's cost by more than this share
// are dropped, so that the floors of the others serve the next solve. More: better warm starts, but
// fewer labels are dropped.
inline constexpr double kFloorReach = 0.02;
// The solver checks again whether dropping labels pays when the gap has shrunk to this share of the
// gap at the last check.
inline constexpr double kLookAgain = 0.95;
// With at most this many cells of an edge left, most variables are decided.
inline constexpr uint64_t kFewCellsOfEdge = 8;

}  // namespace search

namespace warm {

// Of the labels whose floors are known from an earlier solve, the share that a warm start searches
// first, and the largest share that it searches. More: the optimum is among them more often. Beyond
// the second share a warm start is no faster than a cold one.
inline constexpr double kFirstShare = 0.2, kMaxShare = 0.6;

}  // namespace warm

// Without budgets.
namespace close {

// Maximum number of sweeps over a part of the branch and bound; for the whole problem it is
// SolveOptions::max_sweeps. More: higher bounds and fewer parts.
inline constexpr uint32_t kNodeSweeps = 60;
// Maximum work of exact elimination: a few seconds. More: problems of larger tree width are solved
// in one step. kFewLeftCells: before sweeps have stalled, once few labels are left; some hundredths
// of a second.
inline constexpr uint64_t kMaxEliminationCells = 1ull << 31, kFewLeftCells = 1 << 24;
// Problems with more binary variables are too large for lp_solve.
inline constexpr uint64_t kMaxMilpBinaries = 2000;
// Maximum number of cells of a table in elimination with copies (eliminate.h). More: the additional
// time exceeds what the higher bound saves.
inline constexpr uint64_t kMaxCopiedTableCells = 1 << 14;
// Elimination with copies continues as long as it closes this share of the gap.
inline constexpr double kWorthCopies = 0.2;
// A problem below both limits is eliminated without any sweep, which is certainly faster.
inline constexpr uint64_t kEasyLabelsPerVariable = 8;
inline constexpr uint64_t kEasyCells = 1 << 18;
// Between the sweeps over a root of at least kLargeCells cells, its most promising part, of
// kLikelyCells cells, is solved: first after kFirstSweeps sweeps, at most kLikelyRounds times, each
// with at most kLikelyBranchNodes nodes. More: a better incumbent earlier, but repeated work.
inline constexpr uint64_t kLargeCells = 1 << 20, kLikelyCells = 1 << 19;
inline constexpr uint32_t kFirstSweeps = 24;
// A deep root is folded first (fold_layers.h). kFoldMargin: the layers that are kept beside each
// end. kFoldedSweeps, kFoldedLikelyCells: the sweeps over the folded problem, and the cells of its
// most promising part. kUnfoldedSweeps: the sweeps over the whole problem that follow. More: better
// messages. Sweeps over the folded problem end when eight of them raise the bound by less than
// kFoldedStallShare. Chosen on LLaMA-3 8B with 32 layers on 64 devices: a margin of 1 or 2, 40 to
// 64 folded sweeps and up to 3 others differ by a tenth of the time.
inline constexpr uint32_t kFoldMargin = 1, kFoldedSweeps = 48, kUnfoldedSweeps = 2;
inline constexpr uint64_t kFoldedLikelyCells = 1 << 16;
inline constexpr double kFoldedStallShare = 1e-6;
// With a tolerated gap above this, a few sweeps over the whole problem suffice.
inline constexpr double kFoldedGap = 1e-2;
// After the likely part of such a root is solved, one of this many sweeps reads exact costs. More:
// faster sweeps, but labels are dropped later, since dropping requires an exact sweep. 3 to 12
// differ little. Chosen on LLaMA-3 8B with 32 layers on 64 devices (`search`), checked on no other
// model.
inline constexpr uint32_t kExactEvery = 6;
inline constexpr int kLikelyRounds = 4;
inline constexpr uint64_t kLikelyBranchNodes = 4;
// Sweeps have stalled when the bound rises by less than this share of the gap. The first time,
// sweeps end early (kEarly), because elimination closes a part with few cells at once where sweeps
// would converge slowly; otherwise late (kLate). They also end late if a sweep is cheap: with few
// variables, or with few cells per edge (search::kFewCellsOfEdge).
inline constexpr double kEarly = 0.1, kLate = 0.02;
inline constexpr uint32_t kManyVariables = 1000;

}  // namespace close

// With budgets.
namespace budget_close {

// Sweeps at the initial prices, before they move for the first time.
inline constexpr uint32_t kWarmSweeps = 8;
// Price steps at the root, at a part, at a large root (repeated as long as they help), and at a
// part made by a new count. More: higher bounds and fewer parts. A new count changes the prices of
// all rows, which takes more steps, but avoids parts.
inline constexpr uint32_t kRootSteps = 150, kNodeSteps = 20, kLargeRootSteps = 400;
inline constexpr uint32_t kCountedSteps = 150;
// A root with more cells is large: branch and bound would not finish. The aim is then a good bound,
// and a good labelling found on the way.
inline constexpr uint64_t kLargeRootCells = 2'000'000;
// The bundle moves the prices after kAverageSteps steps, if the gap is below kNarrowGap. It makes
// progress where averages cycle, but it does not see how far the sweeps are from convergence.
inline constexpr uint32_t kAverageSteps = 16;
inline constexpr double kNarrowGap = 0.02;
// Consecutive idle steps after which the bundle is abandoned: in general, and in a part made by a
// new count.
inline constexpr uint32_t kMaxIdleBundleSteps = 6, kMaxIdleCounted = 24;
// Labels of a large part are dropped if at most this share of its cells would remain.
inline constexpr double kWorthDropping = 0.5;
// If the bound of a part has closed more than this share of the gap, the search continues with the
// part of the lowest bound, otherwise with a child of this part. Less: the bound of the whole
// problem rises sooner; more: a better incumbent sooner.
inline constexpr double kUrgentShare = 0.5;
// A rough search begins one of this many dives at the part of the lowest bound, the others at the
// part added last. More: labellings near the best; less: more different ones. Chosen on C and D.
inline constexpr uint64_t kTopOneIn = 4;
// The share of the bound by which one step aims to raise it. More: fewer steps where the bound is
// far away, but too long steps where it is near.
inline constexpr double kMaxRise = 0.2;
// Steps have stalled when 30 of them gain less than this share of the gap to the goal.
inline constexpr double kStallShare = 0.01, kLargeStallShare = 0.0005;
// A round of kLargeRootSteps is repeated if it closed this share of the gap.
inline constexpr double kLargeRiseShare = 0.01;
// The first parts of a problem, up to this number, are processed one after another; later ones in
// rounds that several threads share (budget_rounds). Rounds take the same parts with any number of
// threads.
inline constexpr uint32_t kSequentialParts = 200;

}  // namespace budget_close

// Chosen on the tiny Apertus and LLaMA of the tests on 2×2×2.
namespace budget_likely {

// The sweeps over all labels before their marginals determine the likely ones: the first time, and
// after each solve among the likely labels, at the prices that it found. All but the last sweep
// read rounded costs.
inline constexpr uint32_t kFirstLikelySweeps = 8, kLaterLikelySweeps = 4;
// If a warm start has messages for at least this share of the problem, they count as messages of
// the same problem. A few edges may differ, because presolve now knows more labels to be too
// expensive.
inline constexpr double kAllKnown = 0.999;
// The number of turns in which likely labels are determined and solved. Turns end when one makes
// the answer cheaper by less than the share kWorthATurn. More: better answers.
inline constexpr uint32_t kTurns = 4;
inline constexpr double kWorthATurn = 1e-3;
// Work on the likely labels in a turn, as a multiple of SolveOptions::likely_cells. At 400 both
// answers take longer, and neither is better.
inline constexpr uint64_t kWorkPerCell = 240;

// The following values are for huge problems (SolveOptions::huge_cells), chosen on LLaMA-3 405B
// within 45 GB. The share of the labels that each turn adds to the likely ones. More: fewer but
// longer turns.
inline constexpr double kCoreShare = 0.05;
// The problem among likely labels is solved up to a gap of kCoreGap times the gap of the whole
// problem, the first time up to kFirstCoreGap. The work is at most that of kCoreSweeps, in the last
// turn kLastCoreSweeps, sweeps over all labels.
inline constexpr double kCoreGap = 0.1, kFirstCoreGap = 0.01;
inline constexpr uint64_t kCoreSweeps = 16, kLastCoreSweeps = 64;
// Turns end after kMostTurns, or when a turn leaves more than the share kStalledTurn of the gap, or
// as soon as at most the share kFewLeft of the cells may be in a better labelling.
inline constexpr uint32_t kMostTurns = 8;
inline constexpr double kStalledTurn = 0.9, kFewLeft = 0.15;

}  // namespace budget_likely

namespace budget_rounds {

// Parts in a round, and therefore the maximum number of threads that can share it.
inline constexpr size_t kParts = 16;
// Work on one part in a round; about 10 ms. More: threads wait less for each other at the end of a
// round; less: what one part finds prunes others sooner.
inline constexpr uint64_t kCellsPerRound = 1 << 24;

}  // namespace budget_rounds

// Chosen on LLaMA-3 8B with 32 layers within 20 to 25 GB, and checked on the block and on the
// contest's instance V.
namespace budget_count {

// Minimum number of equal variables in a class whose labels are counted. Fewer: more classes to
// branch on.
inline constexpr uint32_t kFewest = 8;
// Prices balance a class if the mean number of its labels in the set is at least this far from the
// known lower and upper limit of that number. Less: counts that branching on a variable would
// settle.
inline constexpr double kBalanced = 0.05;

}  // namespace budget_count

namespace fronts {

// Limits on the bytes of table entries and on the items of all fronts; beyond them, fronts are
// abandoned. 64 MB of tables were too few for 32 layers within 23 GB; with 128 to 512 the proof is
// the same. Each thread may use twice as much for a front.
inline constexpr uint64_t kMaxTableBytes = 256ull << 20;
inline constexpr size_t kMaxItems = 4'000'000;

// Work of one attempt. More: some parts are closed instead of split, but time is lost on others.
inline constexpr uint64_t kMaxFrontCells = 1'000'000'000, kFreeFrontCells = 20'000'000;
// The widest gap between the incumbent's cost and the part's bound at which fronts are tried. More:
// longer fronts, since their length grows with the gap.
inline constexpr double kWidestGap = 5e-3;
// If fronts raised the bound by less than the share kWorthFronts of the gap, they are tried again
// only in parts with less than 1/kFewerCells of the cells.
inline constexpr double kWorthFronts = 0.1;
inline constexpr double kFewerCells = 2;

}  // namespace fronts

// Chosen on the contest's instances C, D, K, L and S; README.md has the figures of the others.
namespace budget_improve {

// SolveOptions::improve_from determines when improvement begins. There is no improvement if
// SolveOptions::max_branch_nodes is below this: the caller then needs a rough answer soon.
inline constexpr uint64_t kLeastParts = 100;
// From this much work on, the search records what improvement would need, in case it begins.
inline constexpr uint64_t kNotesFrom = 300'000'000;
// No improvement while the gap is below this share of the bound.
inline constexpr double kLeastGap = 5e-4;
// Price steps at the root between two improvements.
inline constexpr uint32_t kEverySteps = 10;
// The work on improvement, as a share of the work on branch and bound, grows and falls by these
// factors, between 1 and kLeastShare. More: better labellings; less: higher bounds.
inline constexpr double kShareGrows = 2, kShareFalls = 0.8, kLeastShare = 0.125;
// Maximum work of local search at a time. It limits the first run, which follows much other work.
inline constexpr uint64_t kMostWork = 500'000'000;
// How much more expensive than the best the labelling may become during the search, relative to its
// cost.
inline constexpr double kMaxDearer = 0.01;
// Recombination begins after kLeastRuns improvements. It then waits until the other work equals its
// own; while it finds nothing, up to kMostPatience times as much.
inline constexpr uint64_t kLeastRuns = 3, kMostPatience = 8;
// Maximum work of a recombination, as a multiple of the work since the last one. More: work on
// cores that rarely close, at the expense of the branch and bound. Chosen on C, D and M.
inline constexpr uint64_t kMostRecombined = 2;
// The share of the labels that are recombined even if no labelling found has them, and the factor
// by which it changes. More: the core holds better labellings, but takes longer to solve.
inline constexpr double kFirstCoreShare = 0.1, kCoreGrows = 1.5;
// If variables have more labels than this on average, the first core has the labels of the lowest
// marginals; otherwise the cheapest of every variable. Contest instances have 3 to 13, plans on
// three mesh dims some hundred. Chosen on C, D, and GPT-2 of the examples on 2×2×2.
inline constexpr uint64_t kManyLabels = 32;
// Recombination: the gap below which branching does not pay, and the maximum number of parts of a
// core.
inline constexpr double kRecombinedGap = 1e-6;
inline constexpr uint64_t kRecombinedNodes = 30;

}  // namespace budget_improve

// Chosen on instance S.
namespace local_search {

// The numbers of trees and of variables of a region, drawn at random from these. More: exchanges
// between more places; less: more regions in the same time.
inline constexpr uint32_t kTrees[] = {1, 2, 4, 16}, kSizes[] = {50, 150, 400, 1000};
// One of this many seeds is drawn uniformly, the others where the relaxation has other labels.
inline constexpr uint64_t kUniformOneIn = 4;
// One of this many steps saves (local_search.h).
inline constexpr uint64_t kSaveOneIn = 3;
// The share of the price of usage that is added to costs, so that of equal costs less usage is
// better.
inline constexpr double kThrift = 1e-6;
inline constexpr int kMaxCorners = 12;  // of a region
// Work during which the tolerance falls to zero, before it is reset.
inline constexpr uint64_t kPeriod = 2'000'000'000;
inline constexpr uint64_t kWorkPerRegion = 1000;

}  // namespace local_search

namespace relaxation {

// Weight of the last labelling in the averaged direction of a step, and in the frequencies. More:
// quicker response; less: steps cycle less.
inline constexpr double kShareOfNew = 0.3;
inline constexpr float kFrequencyShare = 0.1f;
// The longest step, and the shortest before steps end, as fractions of the step that would reach
// the goal.
inline constexpr double kMaxStepFraction = 1.5, kMinStepFraction = 1e-3;
// Consecutive steps without a better bound after which steps are shortened.
inline constexpr uint32_t kPatience = 6;
// A direction that happens to be short must not cause a long step: the norm that steps are divided
// by decays by this factor at most.
inline constexpr double kScaleKept = 0.6;
// Bundle steps: the level that they aim at, between bound (0) and ceiling (1), and its tolerance.
inline constexpr double kLevel = 0.5, kAimTolerance = 0.01;
// The smallest possible rise of the bound that justifies a step, as a share of the gap; the
// smallest gain that justifies another sweep at the same prices, as a share of the distance to the
// level; and the smallest aim, relative to the first, at which halving ends.
inline constexpr double kWorthRising = 0.003, kWorthSweeping = 0.003, kMinAim = 0.01;

}  // namespace relaxation

namespace price_bundle {

// Maximum number of cuts. More: better steps, but the cost of a step grows with the cube of this
// number.
inline constexpr size_t kMaxCuts = 24;
// Prices are rejected if their distance from the centre exceeds this multiple of the sum of the
// centre's prices.
inline constexpr double kFarthest = 7;

}  // namespace price_bundle

namespace price_projection {

// Maximum number of Newton steps for one set of cuts. Most projections take fewer than thirty.
inline constexpr uint32_t kMaxSteps = 100;
// kRidge regularises the diagonal, relative to its largest element: a smaller curvature counts as
// zero. A direction is flat if a Newton step leaves more than the share kFlat of the squared
// slopes.
inline constexpr double kRidge = 1e-12, kFlat = 0.25;
// Line search: the final slope relative to that at the start, the step length that counts as
// unbounded, and the maximum number of steps.
inline constexpr double kLineTolerance = 1e-10, kFarAlong = 1e40;
inline constexpr uint32_t kMaxLineSteps = 200;

}  // namespace price_projection

namespace certificate {

// Sweeps end when eight of them raise the bound by less than this share.
inline constexpr double kCertificateStallShare = 1e-12;

}  // namespace certificate

namespace lp_solve {

inline constexpr uint64_t kMaxColumns = 1 << 20;
// Maximum number of calls of lp_solve's callback, and the work that one call counts as. So the work
// is counted, not timed. The callback runs at least once for each iteration.
inline constexpr uint64_t kMaxQuestions = 20'000'000;
inline constexpr uint64_t kCellsPerQuestion = 50'000;

}  // namespace lp_solve

}  // namespace shw::solver::parameters
