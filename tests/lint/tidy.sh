#!/usr/bin/env bash
# clang-tidy (.clang-tidy) on the sources in which a mistake costs most: those that read untrusted bytes, that callers
# reach, and that run on several threads. The whole tree takes too long for every run; --all is for a quiet hour. Headers are checked
# wherever they are included. Needs the compile commands of preset asan: clang's, with its precompiled headers.
# usage: tests/lint/tidy.sh [--all | FILE…]
set -uo pipefail
cd "$(dirname "$0")/../.."
if [ $# -gt 0 ] && [ "$1" != --all ]; then
  files=$(printf '%s\n' "$@")
elif [ "${1:-}" = --all ]; then
  files=$(git ls-files 'src/*.cc' 'capi/src/*.cc')
else
  files=$(git ls-files 'capi/src/*.cc' 'src/support/*.cc' 'src/graph/*.cc' 'src/plan/*.cc' ':(glob)src/runtime/*.cc' \
                       'src/runtime/collective/*.cc')
fi
echo "== clang-tidy: $(echo "$files" | wc -l) files"
if echo "$files" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/asan 2>/dev/null; then
  echo "clang-tidy: clean"
else
  echo "FAILED: clang-tidy"
  exit 1
fi
