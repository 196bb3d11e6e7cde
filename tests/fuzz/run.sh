#!/usr/bin/env bash
# Builds the libFuzzer programs (preset asan: clang, address and undefined-behaviour sanitizers) and runs each for some seconds from its corpus.
# New inputs stay in build/asan/found/<name>; an input that fails is printed with its path, and belongs into the corpus with the fix.
# usage: tests/fuzz/run.sh [SECONDS=60] [TARGET…]
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
shift || true
mkdir -p build
{ cmake --preset asan >build/fuzz.log 2>&1 && cmake --build --preset asan --target fuzz_programs -j"$(nproc)" >>build/fuzz.log 2>&1; } ||
  { grep -E "error|FAILED" -A5 build/fuzz.log | head -40; echo "FAILED: build of the fuzz targets"; exit 1; }

fuzz() {  # one target; its report is a line, or the end of its log
  local name=$1 found=build/asan/found/$1 log=build/asan/$1.log
  mkdir -p "$found"
  local corpus=("$found" "tests/fuzz/corpus/$name")
  if [ "$name" = plan_fuzz ]; then  # plans of this version of the format, with every kernel
    build/asan/bin/plan_seeds build/asan/found/plan_seeds || return 1
    corpus+=(build/asan/found/plan_seeds)
  fi
  if build/asan/bin/"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$found/failed-" "${corpus[@]}" >"$log" 2>&1; then
    echo "$name: clean, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
  else
    tail -n 40 "$log"
    echo "FAILED: $name"
    return 1
  fi
}

status=0
for source in tests/fuzz/*_fuzz.cc; do  # one a core
  name=$(basename "$source" .cc)
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || status=1; done
  fuzz "$name" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || status=1; done
exit $status
