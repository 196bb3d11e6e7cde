#!/usr/bin/env bash
# From a bare Debian 12 to plans for 64 H100s and a training step on 8 virtual ranks, in one command:
#   1. installs what is missing (apt) and builds a release into build/release;
#   2. plans the real LLaMA-3 8B graph (forward and backward, 2 and 32 layers) for an 8×8 mesh;
#   3. plans a small LLaMA for 2×4, runs it on 8 virtual ranks in one process with PyTorch's own parameters and inputs, and
#      compares logits and every gradient with PyTorch's and with the unsharded run.
# It reads only examples/data; its output goes to build/quickstart.
set -euo pipefail
cd "$(dirname "$0")/.."
start=$SECONDS
section() { printf '\n\033[1m== %s\033[0m\n' "$1"; }

section "packages and build (the longest part: it compiles everything)"
examples/install_packages.sh build
cmake --preset release -DBUILD_TESTING=OFF >/dev/null
cmake --build --preset release -j"$(nproc)" | tail -n 1
shardwise=build/release/bin/shardwise
out=build/quickstart
mkdir -p "$out"
echo "built in $((SECONDS - start)) s"

for layers in 2 32; do
  section "LLaMA-3 8B, $layers layers, forward and backward: 64 H100s as dp=8 × tp=8"
  "$shardwise" import --from fx-json "examples/data/llama8b_L${layers}_8x8_einsum.graph.pre.json.gz" -o "$out/llama8b_L$layers.swgraph"
  "$shardwise" plan "$out/llama8b_L$layers.swgraph" --mesh dp=8,tp=8 --hardware h100 --rules compat --input-layout "S(0)R" \
    --output-layout "S(0)S(2)" --grad-reduce-dtype f32 -o "$out/llama8b_L$layers.swplan"
done

section "A small LLaMA on 8 virtual ranks, against PyTorch and against the unsharded run"
"$shardwise" import --from fx-json examples/data/llama_tiny_2x4.graph.pre.json.gz -o "$out/llama_tiny.swgraph"
"$shardwise" plan "$out/llama_tiny.swgraph" --mesh dp=2,tp=4 --hardware h100 --input-layout "S(0)R" --output-layout "S(0)S(2)" \
  -o "$out/llama_tiny.swplan"
"$shardwise" run "$out/llama_tiny.swplan" --virtual-ranks --inputs examples/data/llama_tiny_f32.safetensors \
  --outputs "$out/llama_tiny_outputs.safetensors" --verify

printf '\ndone in %d s; plans and outputs are in %s. Next: %s show %s/llama_tiny.swplan --nodes\n' "$((SECONDS - start))" "$out" "$shardwise" "$out"
