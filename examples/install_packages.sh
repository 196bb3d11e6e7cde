#!/usr/bin/env bash
# Installs what building, testing and running need and this machine lacks (Debian 12). Quiet when there is nothing to do.
# usage: install_packages.sh [build|test]      build: compile and run; test: also the test suite's tools
set -euo pipefail
packages="g++ cmake ninja-build flatbuffers-compiler libflatbuffers-dev liblpsolve55-dev lp-solve libdnnl-dev libxbyak-dev
          libxxhash-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libopenmpi-dev openmpi-bin
          libprotobuf-dev protobuf-compiler"
if [ "${1:-build}" = test ]; then
  packages="$packages libgtest-dev libbenchmark-dev clang libclang-rt-14-dev abigail-tools python3 python3-venv python3-dev binutils lld pkg-config
            clang-format clang-tidy iproute2 libonnx-testdata chromium-headless-shell"
  command -v cargo >/dev/null || [ -x "${HOME:-}/.cargo/bin/cargo" ] || packages="$packages cargo rustc"  # or rustup's
fi
missing=""
for p in $packages; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q "ok installed" || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
echo "installing:$missing"
sudo=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "not root, and no sudo: install these yourself:$missing" >&2; exit 1; }
  sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# shellcheck disable=SC2086  # word splitting of the list is meant
if ! { $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
