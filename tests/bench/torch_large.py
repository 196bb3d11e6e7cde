#!/usr/bin/env python3
"""Writes the graphs of training steps of large models of transformers, without their weights.

usage: torch_large.py FOLDER [NAME …]

Needs torch, transformers and the package shardwise. Writes FOLDER/NAME.json for each model named, or for all. The configurations are the published
ones, without dropout.
"""
import argparse
import pathlib
import time

import shardwise as sw
import shardwise.torch
import torch
import transformers

BATCH, LENGTH = 16, 2048
MODELS = {
    "whisper_large": ("whisper", "WhisperForConditionalGeneration", dict(
        d_model=1280, encoder_layers=32, decoder_layers=32, encoder_attention_heads=20, decoder_attention_heads=20, encoder_ffn_dim=5120,
        decoder_ffn_dim=5120, vocab_size=51865, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0)),
    "llama2_7b": ("llama", "LlamaForCausalLM", dict(
        hidden_size=4096, num_hidden_layers=32, num_attention_heads=32, intermediate_size=11008, vocab_size=32000)),
    "mistral_7b": ("mistral", "MistralForCausalLM", dict(
        hidden_size=4096, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8, intermediate_size=14336, vocab_size=32000)),
    "gemma2_9b": ("gemma2", "Gemma2ForCausalLM", dict(
        hidden_size=3584, num_hidden_layers=42, num_attention_heads=16, num_key_value_heads=8, head_dim=256, intermediate_size=14336,
        vocab_size=256000)),
    "falcon_11b": ("falcon", "FalconForCausalLM", dict(
        hidden_size=4096, num_hidden_layers=60, num_attention_heads=32, num_kv_heads=8, ffn_hidden_size=16384, vocab_size=65024,
        new_decoder_architecture=True, num_ln_in_parallel_attn=1, bias=False, alibi=False)),
}


class LogitsOf(torch.nn.Module):
    """A model that returns its logits alone."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        if len(inputs) == 2:
            return self.model(input_features=inputs[0], decoder_input_ids=inputs[1]).logits
        return self.model(input_ids=inputs[0]).logits


def export(path: pathlib.Path, model_type: str, kind: str, sizes: dict[str, object]) -> None:
    config = transformers.AutoConfig.for_model(model_type, use_cache=False, **sizes)
    with torch.device("meta"):
        model = LogitsOf(getattr(transformers, kind)(config).to(torch.bfloat16)).train()
        if model_type == "whisper":
            inputs = (torch.empty(64, config.num_mel_bins, 3000, dtype=torch.bfloat16), torch.zeros(64, 448, dtype=torch.int64))
        else:
            inputs = (torch.zeros(BATCH, LENGTH, dtype=torch.int64),)
        path.write_bytes(sw.torch.export(model, inputs, training=True).fx_json)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", choices=[[], *MODELS])
    args = parser.parse_args()
    for name in args.names or MODELS:
        began = time.monotonic()
        export(args.folder / f"{name}.json", *MODELS[name])
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
