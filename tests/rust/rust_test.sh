#!/bin/sh
# usage: rust_test.sh CARGO SOURCE_DIR BUILD_DIR LIBRARY_DIR PLAN      PLAN: that of examples/c/train.c
set -eu
cargo=$1 source=$2 build=$3 library=$4 plan=$5
PATH=$(dirname "$cargo"):$PATH
export PATH CARGO_TARGET_DIR="$build/rust" SHARDWISE_LIB_DIR="$library" CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 RUST_BACKTRACE=0
unset SHARDWISE_DIR SHARDWISE_BUILD SHARDWISE_STATIC || true

has() {
  cargo "$1" --version >/dev/null 2>&1 || { echo "skipped: cargo $1 is not installed"; return 1; }
}

if command -v clang >/dev/null; then
  python3 "$source/bindings/rust/shardwise-sys/generate.py" --check
else
  echo "skipped: no clang to compare the declarations with the headers"
fi
for crate in bindings/rust examples/rust; do
  cd "$source/$crate"
  if has fmt; then cargo fmt --check; fi
  if has clippy; then cargo clippy -q --offline --all-targets -- -D warnings; fi
done

cd "$source/bindings/rust"
cargo test -q --offline
# The library opened when a program first uses it, and not linked.
if has clippy; then cargo clippy -q --offline --features shardwise/runtime -- -D warnings; fi
(unset SHARDWISE_LIB_DIR; LD_LIBRARY_PATH="$library" cargo test -q --offline --features shardwise/runtime --test graphs --test no_library)
RUSTDOCFLAGS="-D warnings" cargo doc -q --offline --no-deps

cd "$source/examples/rust"
cargo run -q --offline -- "$build/rust/train.swplan"
cmp "$plan" "$build/rust/train.swplan" && echo "the plan equals that of the same graph in C"
