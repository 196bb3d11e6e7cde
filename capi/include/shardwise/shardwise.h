/*
 * Shardwise: compiles a tensor graph for a device mesh to an executable plan with the cheapest
 * placement of every tensor, and runs plans.
 *
 *   base.h      status, context, cancel flag, blob
 *   builder.h   builds a graph by calls
 *   graph.h     imports graphs from other formats; prints graphs
 *   compile.h   compiles a graph to a plan; loads and saves plans
 *   plan.h      what a caller needs to run a plan; reports
 *   program.h   what is inside a plan: placements of nodes, steps, memory
 *   comparison.h  how two plans differ
 *   planner.h   several questions about one graph, such as what-if
 *   explanation.h  why a node, or a plan, is placed as it is
 *   pareto.h    step time against memory
 *   recipes.h   well-known recipes compared with the optimum
 *   report.h    a plan as a page for a browser
 *   search.h    the best mesh for a number of devices
 *   hardware.h  machines, and fitting their description to measurements
 *   solution.h  placement problems without a graph
 *   device.h    devices and buffers
 *   world.h     the ranks that communicate
 *   runtime.h   executors, sessions, events: running a plan
 *   runner.h    all ranks of this process as one: whole tensors in and out, by name
 *   verification.h  whether the results of a run are right
 *
 * This header includes all of them. share/doc/shardwise of an installation has ABI.md, the rules of
 * the interface; OPS.md, the operations of graphs; HARDWARE.md, descriptions of machines; and
 * examples: minimal.c is the whole way from a graph to results, train.c has state and updates.
 */
#ifndef SHARDWISE_SHARDWISE_H_
#define SHARDWISE_SHARDWISE_H_

#include "shardwise/base.h"
#include "shardwise/builder.h"
#include "shardwise/comparison.h"
#include "shardwise/compile.h"
#include "shardwise/device.h"
#include "shardwise/explanation.h"
#include "shardwise/graph.h"
#include "shardwise/hardware.h"
#include "shardwise/pareto.h"
#include "shardwise/plan.h"
#include "shardwise/planner.h"
#include "shardwise/program.h"
#include "shardwise/recipes.h"
#include "shardwise/report.h"
#include "shardwise/runner.h"
#include "shardwise/runtime.h"
#include "shardwise/search.h"
#include "shardwise/solution.h"
#include "shardwise/verification.h"
#include "shardwise/world.h"

#endif /* SHARDWISE_SHARDWISE_H_ */
