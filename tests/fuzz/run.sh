#!/usr/bin/env bash
# Builds the libFuzzer programs with address and undefined-behaviour sanitizers and runs each for some seconds from its corpus.
# New inputs stay in build/fuzz/found/<name>; an input that fails is printed with its path, and belongs into the corpus with the fix.
# usage: tests/fuzz/run.sh [SECONDS=60] [TARGET…]
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
shift || true
mkdir -p build
cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DSHW_FUZZ=ON -DSHW_SANITIZE=fuzzer-no-link,address,undefined >build/fuzz.log 2>&1 &&
  cmake --build build/fuzz --target fuzz_programs -j"$(nproc)" >>build/fuzz.log 2>&1 ||
  { grep -E "error|FAILED" -A5 build/fuzz.log | head -40; echo "FAILED: build of the fuzz targets"; exit 1; }
status=0
for source in tests/fuzz/*_fuzz.cc; do
  name=$(basename "$source" .cc)
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  found=build/fuzz/found/$name
  mkdir -p "$found"
  if build/fuzz/bin/"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$found/failed-" "$found" "tests/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1; then
    echo "$name: clean, $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$name.log") inputs"
  else
    tail -n 40 "build/fuzz/$name.log"
    echo "FAILED: $name"
    status=1
  fi
done
exit $status
