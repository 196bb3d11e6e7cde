// Every number of the solver that was chosen, not derived: what it decides, and what it trades. No
// value changes an answer that is proven; all change how soon it is proven, and how good an answer
// is when the work allowed is used up. Each file of the folder has a namespace here.
//
// Tolerances of floating-point sums are not among them. They follow from the number of additions
// and stand where the sums are.
//
// Work is counted in cells, pairs of labels of an edge that a sweep looks at, so that a plan does
// not depend on the clock. A thread sweeps some 1e9 cells a second.
//
// On which problems a value was chosen is recorded only where it says so. README.md has the figures
// of all problems at these values.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shw::solver::parameters {

namespace presolve {

// Rounds of consistency → dominance → reductions. Two are typical; more find next to nothing.
inline constexpr int kMaxRounds = 8;
// Cells that the elimination of a variable of degree two may compute; it also pays only if the new
// matrix is not larger than the two that it replaces, which sweeps read. More: fewer variables, and
// more time than the sweeps save.
inline constexpr uint64_t kMaxReductionCells = 1 << 22;

}  // namespace presolve

namespace survey {

// Sweeps over a wide problem before it is presolved. More: a better incumbent and bound to prune
// with, for sweeps over tables that pruning would have made small.
inline constexpr uint32_t kMaxSweeps = 40;
// They end when one gains less than this share of the bound.
inline constexpr double kSurveyStallShare = 3e-4;
// Then the likely labels are swept alone. Fewer: the wrong labels, and the bound has further to go
// again (LLaMA tiny on 2×2×2×2: 15 sweeps without, 25 where that is done after one, 9 after three,
// 12 after four).
inline constexpr uint32_t kSweepsBeforeCore = 3;
// Of all cells: those of labels that could be part of a better answer are few. More: earlier, and
// larger tables for presolve to copy.
inline constexpr double kFewCells = 1.0 / 32;

}  // namespace survey

namespace trws {

// Tables of fewer cells are read as they are: rounding the row of costs takes longer than it saves.
inline constexpr uint64_t kRoundedCells = 1 << 10;
// Threads share a sweep over so many cells, which takes milliseconds. More threads than two mostly
// wait: the order of LLaMA-3 405B keeps 1.7 busy.
inline constexpr uint64_t kSharedCells = 1 << 24;
inline constexpr uint32_t kSweepThreads = 2;
// A thread with nothing to do looks so often for something before it lets others run.
inline constexpr uint32_t kLooksPerTurn = 256;

}  // namespace trws

namespace search {

// The sweeps over which a bound must rise for them to go on. More: slow rises are seen through.
inline constexpr uint32_t kStallSweeps = 12;
// A problem with fewer cells is swept at its exact costs only: its tables fit the caches, and it
// takes few milliseconds.
inline constexpr uint64_t kManyCells = 1 << 20;
// What dropping labels costs, in cells that could be swept in the same time, for each cell that
// remains and for each edge. Measured.
inline constexpr double kDropPerCell = 10, kDropPerEdge = 400;
// Labels are dropped only beyond this share of the cost above the incumbent, so that the floors of
// the others serve the next solve too. More: warmer starts, and fewer labels dropped.
inline constexpr double kFloorReach = 0.02;
// Whether dropping pays is computed again once the gap has shrunk to this share.
inline constexpr double kLookAgain = 0.95;

}  // namespace search

namespace warm {

// Shares of the labels whose floors are known from an earlier solve: searched first, and at most.
// More: the optimum is more often among them. Beyond the second a warm start is no faster than a
// cold one.
inline constexpr double kFirstShare = 0.2, kMaxShare = 0.6;

}  // namespace warm

// Without budgets.
namespace close {

// Sweeps over a part of the branching; the whole problem has SolveOptions::max_sweeps. More: higher
// bounds and fewer parts.
inline constexpr uint32_t kNodeSweeps = 60;
// Of exact elimination: a few seconds. More: problems of larger tree width in one step.
inline constexpr uint64_t kMaxEliminationCells = 1ull << 31;
// lp_solve does not finish beyond so many.
inline constexpr uint64_t kMaxMilpBinaries = 2000;
// Cells of a table of elimination with copies (eliminate.h). More cost more time than the higher
// bound saves.
inline constexpr uint64_t kMaxCopiedTableCells = 1 << 14;
// Such elimination goes on as long as it closes this share of the gap.
inline constexpr double kWorthCopies = 0.2;
// A problem below both is eliminated before any sweep: that is certain to be faster.
inline constexpr uint64_t kEasyLabelsPerVariable = 8;
inline constexpr uint64_t kEasyCells = 1 << 18;
// A root with so many cells solves its most promising part, of so many, between sweeps: after these
// sweeps, so often, with so many nodes. More: a better incumbent earlier, and work done twice.
inline constexpr uint64_t kLargeCells = 1 << 20, kLikelyCells = 1 << 19;
inline constexpr uint32_t kFirstSweeps = 24;
// A deep root is folded first (fold_layers.h): the layers that stay beside each end, the sweeps
// over those and the cells of their most promising part, and the sweeps over the whole that follow.
// More: messages that fit better. Sweeps over few layers end when eight raise the bound by less
// than this share. Chosen on LLaMA-3 8B with 32 layers on 64 devices: a margin of 1 or 2, 40 to 64
// folded sweeps and up to 3 others differ by a tenth of the time.
inline constexpr uint32_t kFoldMargin = 1, kFoldedSweeps = 48, kUnfoldedSweeps = 2;
inline constexpr uint64_t kFoldedLikelyCells = 1 << 16;
inline constexpr double kFoldedStallShare = 1e-6;
// With a tolerance above this, a few sweeps over the whole are enough.
inline constexpr double kFoldedGap = 1e-2;
// Of the sweeps over such a root after its likely part, one in so many reads exact costs. More:
// faster sweeps, and labels are dropped later, as that takes an exact one. 3 to 12 differ little.
// Chosen on LLaMA-3 8B with 32 layers on 64 devices (`search`), checked on no other model.
inline constexpr uint32_t kExactEvery = 6;
inline constexpr int kLikelyRounds = 4;
inline constexpr uint64_t kLikelyBranchNodes = 4;
// Sweeps have stalled where the bound rises by less than this share of the gap: early for the first
// time, since elimination closes a part with few cells at once where sweeps creep; otherwise late.
// Late as well where a sweep is cheap: few variables, or edges of few cells.
inline constexpr double kEarly = 0.1, kLate = 0.02;
inline constexpr uint32_t kManyVariables = 1000;
inline constexpr uint64_t kFewCells = 8;  // of an edge

}  // namespace close

// With budgets.
namespace budget_close {

// Sweeps at the initial prices, before they move for the first time.
inline constexpr uint32_t kWarmSweeps = 8;
// Steps of the prices at the root, at a part, at a root that is large (repeated as long as they
// help), and at a part made by a new count. More: higher bounds and fewer parts. A new count moves
// the prices of all rows, which takes more steps, but spares parts.
inline constexpr uint32_t kRootSteps = 150, kNodeSteps = 20, kLargeRootSteps = 400;
inline constexpr uint32_t kCountedSteps = 150;
// A root with more cells is large: branching does not finish. The aim is then a good bound and,
// along the way, a good labelling.
inline constexpr uint64_t kLargeRootCells = 2'000'000;
// After so many steps, and where the gap is narrow, the bundle moves the prices. It makes progress
// where averages cycle, but cannot tell how far the sweeps are from convergence.
inline constexpr uint32_t kAverageSteps = 16;
inline constexpr double kNarrowGap = 0.02;
// Steps in a row that gain nothing before the bundle is given up; and of a part made by a new
// count.
inline constexpr uint32_t kMaxIdleBundleSteps = 6, kMaxIdleCounted = 24;
// Labels of a large part are dropped if at most this share of its cells remains.
inline constexpr double kWorthDropping = 0.5;
// A part whose bound has closed more than this share of the gap waits for others. Less: the bound
// of the whole rises sooner; more: a better incumbent sooner.
inline constexpr double kUrgentShare = 0.5;
// A rough search begins one dive in so many where the bound is lowest, the others at the end of the
// last. More: labellings near the best; less: others. Chosen on C and D.
inline constexpr uint64_t kTopOneIn = 4;
// The share of the bound that one step aims for. More: fewer steps where the bound is far, and
// steps too long where it is near.
inline constexpr double kMaxRise = 0.2;
// Steps have stalled where 30 of them gain less than this share of the gap to the goal.
inline constexpr double kStallShare = 0.01, kLargeStallShare = 0.0005;
// A round of kLargeRootSteps is repeated if it closed this share of the gap.
inline constexpr double kLargeRiseShare = 0.01;
// A problem that needs at most so many parts is processed one after another; beyond, in rounds that
// several threads share (budget_rounds). Rounds take the same parts with any number of threads.
inline constexpr uint32_t kSequentialParts = 200;

}  // namespace budget_close

// Chosen on the tiny Apertus and LLaMA of the tests on 2×2×2.
namespace budget_likely {

// The sweeps over all labels before their marginals tell which are likely: at first, and at each of
// the prices that the likely ones lead to. All but the last read rounded costs.
inline constexpr uint32_t kFirstLikelySweeps = 8, kLaterLikelySweeps = 4;
// From this share on, the messages of a warm start are those of the same problem: presolve, which
// knows more labels to be too dear, leaves a few other edges.
inline constexpr double kAllKnown = 0.999;
// How often the likely labels are looked for, while a turn makes the answer cheaper by more than
// this share. More: better answers.
inline constexpr uint32_t kTurns = 4;
inline constexpr double kWorthATurn = 1e-3;
// Work on the likely labels in a turn, as a multiple of SolveOptions::likely_cells. At 400 answers
// take longer, and none of both gets better.
inline constexpr uint64_t kWorkPerCell = 240;

// Of a huge problem (SolveOptions::huge_cells), chosen on LLaMA-3 405B within 45 GB:
// The share of the labels that each turn adds to the likely ones. More: fewer turns, and each takes
// longer.
inline constexpr double kCoreShare = 0.05;
// The likely ones are solved to this share of the gap of all labels, the first time to this gap,
// with at most the work of so many sweeps over all.
inline constexpr double kCoreGap = 0.1, kFirstCoreGap = 0.01;
inline constexpr uint64_t kCoreSweeps = 16, kLastCoreSweeps = 64;
// Turns end after so many, or when one leaves more than this share of the gap, or as soon as so few
// of the cells are left that may be in a better labelling.
inline constexpr uint32_t kMostTurns = 8;
inline constexpr double kStalledTurn = 0.9, kFewLeft = 0.15;

}  // namespace budget_likely

namespace budget_rounds {

// Parts that a round takes: so many threads can share one.
inline constexpr size_t kParts = 16;
// Of one part in a round; about 10 ms. More: threads wait less for each other at the end of a
// round; less: what one finds prunes others sooner.
inline constexpr uint64_t kCellsPerRound = 1 << 24;

}  // namespace budget_rounds

// Chosen on LLaMA-3 8B with 32 layers within 20 to 25 GB, and checked on the block and on the
// contest's instance V.
namespace budget_count {

// Equal variables that make a class whose labels are counted. Fewer: more classes to branch on.
inline constexpr uint32_t kFewest = 8;
// Prices balance a class if the mean number of its labels in the set is at least this far from what
// it is known to be at least and at most. Less: counts that branching on a variable would settle.
inline constexpr double kBalanced = 0.05;

}  // namespace budget_count

namespace fronts {

// Of the tables' entries and of the items of all fronts; beyond, fronts are given up. Tables of 64
// MB were too few for 32 layers within 23 GB; with 128 to 512 they are proven alike. A front takes
// twice as much, for each thread.
inline constexpr uint64_t kMaxTableBytes = 256ull << 20;
inline constexpr size_t kMaxItems = 4'000'000;

// Of one attempt. More: parts are closed that would be split, and time is lost on others.
inline constexpr uint64_t kMaxFrontCells = 1'000'000'000, kFreeFrontCells = 20'000'000;
// Of cost and bound of the part. More: fronts are as long as the gap is wide.
inline constexpr double kWidestGap = 5e-3;
// Unless they raised the bound by this share of the gap, fronts are tried again when so many times
// fewer cells are left.
inline constexpr double kWorthFronts = 0.1;
inline constexpr double kFewerCells = 2;

}  // namespace fronts

// Chosen on the contest's instances C, D, K, L and S; README.md has the figures of the others.
namespace budget_improve {

// When it begins is SolveOptions::improve_from.
// Who allows fewer parts wants a rough answer soon.
inline constexpr uint64_t kLeastParts = 100;
// From so many cells on, what it finds is noted, should it come to that.
inline constexpr uint64_t kNotesFrom = 300'000'000;
// A gap below this share of the cost is left alone, while it is.
inline constexpr double kLeastGap = 5e-4;
// Steps of the root's prices between two improvements.
inline constexpr uint32_t kEverySteps = 10;
// The share of the work that goes into improvement grows and falls by these factors, from 1 down to
// this. More: better labellings; less: higher bounds.
inline constexpr double kShareGrows = 2, kShareFalls = 0.8, kLeastShare = 0.125;
// Of local search at a time: the first follows much other work.
inline constexpr uint64_t kMostWork = 500'000'000;
// How much dearer than the best the labelling may become on the way, relative to its cost.
inline constexpr double kMaxDearer = 0.01;
// Recombination waits for so many improvements, and until it has taken as much work as the branch
// and bound; for up to so many times that while it finds nothing.
inline constexpr uint64_t kLeastRuns = 3, kMostPatience = 8;
// The most that recombination takes, as a multiple of the work that it waited for. More: cores that
// hardly close, at the cost of the branch and bound. Chosen on C, D and M.
inline constexpr uint64_t kMostRecombined = 2;
// The share of the labels that are recombined whatever was found, and by what factor it changes.
// More: the core holds better labellings, and takes longer to solve.
inline constexpr double kFirstCoreShare = 0.1, kCoreGrows = 1.5;
// Beyond so many labels of a variable in the mean, the first core has the labels of the lowest
// marginals, else the cheapest of every variable. Contest instances have 3 to 13, plans on three
// mesh dims some hundred. Chosen on C, D, and GPT-2 of the examples on 2×2×2.
inline constexpr uint64_t kManyLabels = 32;
// Of recombination: what is not worth branching for, and the parts into which a core is branched.
inline constexpr double kRecombinedGap = 1e-6;
inline constexpr uint64_t kRecombinedNodes = 30;

}  // namespace budget_improve

// Chosen on instance S.
namespace local_search {

// The numbers of trees and variables of a region, one of which is drawn. More: exchanges between
// more places; less: more regions in the same time.
inline constexpr uint32_t kTrees[] = {1, 2, 4, 16}, kSizes[] = {50, 150, 400, 1000};
// One seed in so many is drawn evenly, the others where the relaxation has other labels.
inline constexpr uint64_t kUniformOneIn = 4;
// One step in so many saves.
inline constexpr uint64_t kSaveOneIn = 3;
// Among equal costs, less usage is better: the share of its price that counts.
inline constexpr double kThrift = 1e-6;
inline constexpr int kMaxCorners = 12;  // of a region
// Cells over which the tolerance falls to zero, before it begins anew.
inline constexpr uint64_t kPeriod = 2'000'000'000;
inline constexpr uint64_t kWorkPerRegion = 1000;

}  // namespace local_search

namespace relaxation {

// Weight of the last labelling in the direction of a step, and in the frequencies. More: quicker
// response; less: steps that cycle less.
inline constexpr double kShareOfNew = 0.3;
inline constexpr float kFrequencyShare = 0.1f;
// Of the step that would reach the goal: the longest, and the shortest before steps end.
inline constexpr double kMaxStepFraction = 1.5, kMinStepFraction = 1e-3;
// Steps without a better bound before they are shortened.
inline constexpr uint32_t kPatience = 6;
// A direction that happens to be short must not cause a long step: the norm that steps are divided
// by decays by this factor at most.
inline constexpr double kScaleKept = 0.6;
// Of bundle steps: the level that they aim at, between bound (0) and ceiling (1), and its
// tolerance.
inline constexpr double kLevel = 0.5, kAimTolerance = 0.01;
// The least rise that is worth a step, what another sweep must gain, and where halving of the level
// ends.
inline constexpr double kWorthRising = 0.003, kWorthSweeping = 0.003, kMinAim = 0.01;

}  // namespace relaxation

namespace price_bundle {

// Cuts that are kept. More: better steps, each of which costs the cube of their number.
inline constexpr size_t kMaxCuts = 24;
// Prices further from the centre than this many times the sum of the centre's are not wanted.
inline constexpr double kFarthest = 7;

}  // namespace price_bundle

namespace price_projection {

// Of Newton's method, for one set of cuts. Most projections take fewer than thirty.
inline constexpr uint32_t kMaxSteps = 100;
// The regularisation of the diagonal, relative to its largest element: a curvature below counts as
// none. A direction is flat if this share of the squared slopes is left after it.
inline constexpr double kRidge = 1e-12, kFlat = 0.25;
// Of the search along a direction: the slope, relative to that at the start, and steps; and how
// many times the direction's length is without end.
inline constexpr double kLineTolerance = 1e-10, kFarAlong = 1e40;
inline constexpr uint32_t kMaxLineSteps = 200;

}  // namespace price_projection

namespace certificate {

// Sweeps end when eight gain less than this share of the bound.
inline constexpr double kCertificateStallShare = 1e-12;

}  // namespace certificate

namespace lp_solve {

inline constexpr uint64_t kMaxColumns = 1 << 20;
// Of lp_solve's callback, so that its work is counted, not timed; and what one counts as. The
// callback runs at least once for each iteration.
inline constexpr uint64_t kMaxQuestions = 20'000'000;
inline constexpr uint64_t kCellsPerQuestion = 50'000;

}  // namespace lp_solve

}  // namespace shw::solver::parameters
