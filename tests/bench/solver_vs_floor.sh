#!/usr/bin/env bash
# Times solve(), proof included, next to a plain TRW-S program of 60 lines, in one run, on the same problems.
#
#   tests/bench/solver_vs_floor.sh FLOOR_DIR PROBLEM.json.gz...
#
# FLOOR_DIR holds that program: dump.py (writes a problem as arrays, impossible labels already dropped; needs numpy) and
# trws.cc (which is compiled here as its author says: -O3 -march=native -ffast-math). Its time is the best of as many
# runs as ours has. Prints a line per problem; exit status 1 when a ratio is above LIMIT (1.5 unless set).
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,9p' "$0"; exit 2; }
floor=$1; shift
root=$(cd "$(dirname "$0")/../.." && pwd)
bench=${BENCH:-$root/build/release/bin/bench_solver}
runs=${RUNS:-11}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
g++ -O3 -march=native -ffast-math -w -o "$work/trws" "$floor/trws.cc"
status=0
for problem in "$@"; do
  python3 "$floor/dump.py" "$problem" "$work/problem.bin" > /dev/null
  theirs=$(for _ in $(seq "$runs"); do "$work/trws" "$work/problem.bin" | tail -1; done |
           awk 'NR == 1 || $(NF-1) < best { best = $(NF-1) } END { print best }')
  ours=$("$bench" "$problem" "$runs" | python3 -c 'import json, sys; print(json.load(sys.stdin)["min_ms"])')
  python3 - "$problem" "$ours" "$theirs" "${LIMIT:-1.5}" <<'EOF' || status=1
import os, sys
name, ours, theirs, limit = os.path.basename(sys.argv[1]), *map(float, sys.argv[2:])
print(f"{name.split('.')[0]:28} ours {ours:8.3f} ms   floor {theirs:8.3f} ms   ratio {ours / theirs:.2f}", flush=True)
sys.exit(ours > limit * theirs)
EOF
done
exit $status
