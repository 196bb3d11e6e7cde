/*
 * The C interface for C++17: handles that own, spans, a graph builder with operators. Header only;
 * each function is one call of C and nothing else, but where its comment says more.
 *
 *   cpp/result.hpp    Status, Result, Error: how calls fail
 *   cpp/handle.hpp    what all handles share; Span
 *   cpp/context.hpp   Context, Cancel, Blob
 *   cpp/graph.hpp     Graph, Value, Attr: a graph by calls
 *   cpp/plan.hpp      Plan, CompileOptions, Comparison
 *   cpp/planner.hpp   Planner and its answers; Search, Solution, Calibration
 *   cpp/runtime.hpp   Device, Buffer, World, Executor, Session, Event
 *   cpp/runner.hpp    Runner: all ranks of a virtual world, as one
 *
 * Calls that can fail throw shardwise::Error. In a translation unit that defines SHARDWISE_RESULTS
 * before it includes this header, or is compiled with -fno-exceptions, they return a Result
 * instead. Both kinds can be linked together.
 *
 * Structs, constants and functions of C are used as they are, and their headers say what they mean.
 * CPP.md has a walk-through.
 */
#ifndef SHARDWISE_SHARDWISE_HPP_
#define SHARDWISE_SHARDWISE_HPP_

#include "shardwise/cpp/context.hpp"
#include "shardwise/cpp/graph.hpp"
#include "shardwise/cpp/handle.hpp"
#include "shardwise/cpp/plan.hpp"
#include "shardwise/cpp/planner.hpp"
#include "shardwise/cpp/result.hpp"
#include "shardwise/cpp/runner.hpp"
#include "shardwise/cpp/runtime.hpp"

#endif  // SHARDWISE_SHARDWISE_HPP_
