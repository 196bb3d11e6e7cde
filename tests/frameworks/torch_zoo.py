"""Architectures of transformers and timm in small random configurations, and models of plain PyTorch.

Sizes come from a generator that the model's name seeds, so that a model is the same wherever it is made.
"""
from __future__ import annotations

import dataclasses
import importlib
import random
import zlib
from collections.abc import Callable
from typing import Any

import torch

BATCH = 8


@dataclasses.dataclass
class Model:
    """A module in training or evaluation mode, and the arguments of a call."""

    module: torch.nn.Module
    inputs: dict[str, Any] | tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Architecture:
    name: str
    kind: str
    source: str
    make: Callable[[random.Random], Model]

    def model(self) -> Model:
        seed = zlib.crc32(self.name.encode())
        torch.manual_seed(seed)
        model = self.make(random.Random(seed))
        with torch.no_grad():  # no parameter stays zero or one, since that can make gradients zero for any weights
            for parameter in model.module.parameters():
                if parameter.is_floating_point():
                    parameter.add_(torch.randn_like(parameter), alpha=0.02)
        return model


ARCHITECTURES: list[Architecture] = []

# ---- transformers ------------------------------------------------------------------------------------------

NO_DROPOUT = dict.fromkeys(
    ("hidden_dropout_prob", "attention_probs_dropout_prob", "attention_dropout", "hidden_dropout", "dropout", "activation_dropout",
     "resid_pdrop", "embd_pdrop", "attn_pdrop", "classifier_dropout", "classifier_dropout_prob", "embed_dropout", "residual_dropout", "attn_dropout", "resid_dropout",
     "embedding_dropout", "dropout_rate", "drop_path_rate", "layerdrop", "encoder_layerdrop", "decoder_layerdrop", "emb_dropout", "mlp_dropout",
     "ffn_dropout", "feat_proj_dropout", "final_dropout", "resid_dropout_prob", "embd_dropout", "summary_first_dropout", "token_dropout",
     "router_jitter_noise", "input_jitter_noise"), 0.0)
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "sep_token_id": 2, "cls_token_id": 1}


def sizes_of(rng: random.Random) -> dict[str, Any]:
    """Returns the sizes under names that most configurations use. Other configurations ignore them."""
    heads, head_dim = rng.choice((2, 4)), rng.choice((8, 16))
    width, wide, layers = heads * head_dim, heads * head_dim * rng.choice((2, 3)), rng.choice((1, 2))
    return {"hidden_size": width, "num_attention_heads": heads, "num_key_value_heads": rng.choice((1, 2)), "head_dim": head_dim,
            "intermediate_size": wide, "num_hidden_layers": layers, "vocab_size": 8 * rng.randint(12, 20), "max_position_embeddings": 64,
            "encoder_layers": layers, "decoder_layers": layers, "encoder_attention_heads": heads, "decoder_attention_heads": heads,
            "encoder_ffn_dim": wide, "decoder_ffn_dim": wide}


def hugging_face(name: str, kind: str, head: str, give: Callable[[random.Random, Any], dict[str, Any]], /, model_type: str | None = None,
                 experts: str | None = None, **own: Any) -> None:
    """Adds a model type; `own` are sizes that differ, which may be functions of the common ones; with `...` there is no such size."""

    def make(rng: random.Random) -> Model:
        import transformers

        sizes = sizes_of(rng)
        sizes |= {key: value(sizes) if callable(value) else value for key, value in own.items()}
        sizes = {key: value for key, value in sizes.items() if value is not ...}
        config = transformers.AutoConfig.for_model(model_type or name, **{**TOKENS, **sizes})
        for key, value in {**NO_DROPOUT, "use_cache": False}.items():
            before = getattr(config, key, ...)
            if before is not ...:
                setattr(config, key, value if before is None else type(before)(value))
        options = {"experts_implementation": experts} if experts else {}
        if ATTENTION:
            options["attn_implementation"] = ATTENTION
        module = getattr(transformers, head).from_config(config, **options)
        return Model(module.train(), give(rng, config))

    ARCHITECTURES.append(Architecture(name, kind, "transformers", make))


ATTENTION: str | None = None
"""None: what the model's own configuration says."""


def tokens(rng: random.Random, config: Any) -> dict[str, Any]:
    return {"input_ids": torch.randint(3, config.vocab_size, (BATCH, rng.choice((8, 12, 16))))}


def masked_tokens(rng: random.Random, config: Any) -> dict[str, Any]:
    """Makes a batch of tokens with a mask. The last sequences are shorter, as in a batch of texts."""
    ids = tokens(rng, config)["input_ids"]
    mask = torch.ones_like(ids)
    mask[BATCH // 2:, -3:] = 0
    return {"input_ids": ids, "attention_mask": mask}


def pairs(rng: random.Random, config: Any) -> dict[str, Any]:
    return {"input_ids": tokens(rng, config)["input_ids"], "decoder_input_ids": tokens(rng, config)["input_ids"]}


def image(rng: random.Random, config: Any) -> dict[str, Any]:
    size = config.image_size if isinstance(getattr(config, "image_size", 32), int) else 32
    return {"pixel_values": torch.randn(BATCH, getattr(config, "num_channels", 3), size, size)}


LM, ENCODER, SEQ2SEQ, VISION, BASE = ("AutoModelForCausalLM", "AutoModel", "AutoModelForSeq2SeqLM", "AutoModelForImageClassification", "AutoModel")
KV = {"num_key_value_heads": lambda s: s["num_attention_heads"]}

for _name in ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gpt2", "gpt_neox", "opt", "bloom", "falcon", "phi", "phi3", "stablelm",
              "starcoder2", "olmo", "olmo2", "cohere", "granite", "glm", "codegen", "gptj", "biogpt", "xglm", "nemotron", "helium", "apertus"):
    _own: dict[str, dict[str, Any]] = {
        "gptj": {"rotary_dim": 4}, "codegen": {"rotary_dim": 4, "num_attention_heads": 4, "hidden_size": 64}, "glm": KV, "phi3": {"pad_token_id": 0},
        "falcon": {"head_dim": ..., "num_key_value_heads": ...},
        "xglm": {"d_model": lambda s: s["hidden_size"], "attention_heads": lambda s: s["num_attention_heads"], "num_layers": 2,
                 "ffn_dim": lambda s: s["intermediate_size"]},
        "opt": {"ffn_dim": lambda s: s["intermediate_size"], "word_embed_proj_dim": lambda s: s["hidden_size"]},
    }
    hugging_face(_name, "decoder", LM, tokens, **_own.get(_name, {}))
hugging_face("gpt_neo", "decoder", LM, tokens, attention_types=[[["global", "local"], 1]], num_layers=2, num_hidden_layers=2, num_heads=lambda s: s["num_attention_heads"])
hugging_face("mpt", "decoder", LM, tokens, d_model=lambda s: s["hidden_size"], n_heads=lambda s: s["num_attention_heads"], n_layers=2)
hugging_face("gemma3_text", "decoder", LM, tokens, sliding_window=8)
hugging_face("smollm3", "decoder", LM, tokens)
for _name in ("bert", "roberta", "distilbert", "electra", "albert", "deberta_v2", "mpnet", "camembert", "modernbert", "roformer", "ernie",
              "squeezebert", "convbert", "nystromformer", "fnet", "layoutlm", "megatron-bert"):
    _own = {
        "distilbert": {"dim": lambda s: s["hidden_size"], "n_heads": lambda s: s["num_attention_heads"], "n_layers": 2, "hidden_dim": 64},
        "albert": {"embedding_size": 16}, "electra": {"embedding_size": 16}, "roformer": {"embedding_size": 16},
        "deberta_v2": {"relative_attention": True, "position_biased_input": False, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": 16},
        "squeezebert": {"embedding_size": lambda s: s["hidden_size"]},
    }
    _give = tokens if _name in ("fnet", "nystromformer", "layoutlm") else masked_tokens
    hugging_face(_name, "encoder", ENCODER, _give, model_type="deberta-v2" if _name == "deberta_v2" else None, **_own.get(_name, {}))
for _name in ("bart", "mbart", "pegasus", "marian", "blenderbot", "m2m_100"):
    hugging_face(_name, "encoder–decoder", SEQ2SEQ, pairs, d_model=lambda s: s["hidden_size"], forced_eos_token_id=2)
for _name in ("t5", "mt5", "umt5"):
    hugging_face(_name, "encoder–decoder", SEQ2SEQ, pairs, d_model=lambda s: s["hidden_size"], d_kv=lambda s: s["head_dim"], d_ff=64, num_layers=2,
                 num_decoder_layers=1, num_heads=lambda s: s["num_attention_heads"])
hugging_face("whisper", "encoder–decoder", "AutoModelForSpeechSeq2Seq",
             lambda rng, c: {"input_features": torch.randn(BATCH, c.num_mel_bins, 2 * c.max_source_positions),
                             "decoder_input_ids": torch.randint(3, c.vocab_size, (BATCH, 8))},
             d_model=lambda s: s["hidden_size"], num_mel_bins=8, max_source_positions=16, max_target_positions=16, suppress_tokens=None,
             begin_suppress_tokens=None)
IMAGE = {"image_size": 16, "patch_size": 4, "num_channels": 3, "head_dim": ..., "num_hidden_layers": 2}
STAGES = {"num_hidden_layers": ..., "num_attention_heads": ..., "hidden_size": ...}
for _name in ("vit", "beit", "dinov2", "swin", "convnext", "resnet", "segformer", "poolformer", "mobilevit", "regnet"):
    _own = {
        "swin": {"embed_dim": 16, "depths": [2, 1], "num_heads": [2, 4], "window_size": 2, "image_size": 16, **STAGES},
        "convnext": {"hidden_sizes": [16, 32], "depths": [1, 1], "num_stages": 2, "image_size": 32, **STAGES},
        "resnet": {"embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1], "image_size": 32, **STAGES},
        "regnet": {"embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1], "groups_width": 8, "image_size": 32, "layer_type": "y",
                   **STAGES},
        "segformer": {"hidden_sizes": [16, 32], "depths": [1, 1], "num_encoder_blocks": 2, "sr_ratios": [2, 1], "patch_sizes": [7, 3],
                      "strides": [4, 2], "num_attention_heads": [1, 2], "mlp_ratios": [2, 2], "decoder_hidden_size": 32, "image_size": 32},
        "poolformer": {"hidden_sizes": [16, 32], "depths": [1, 1], "num_encoder_blocks": 2, "patch_sizes": [7, 3], "strides": [4, 2],
                       "padding": [2, 1], "image_size": 32},
        "mobilevit": {"hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 16, 16, 24, 32, 64], "image_size": 64, "num_attention_heads": 2},
    }
    hugging_face(_name, "vision", VISION, image, **{**IMAGE, **_own.get(_name, {})})
hugging_face("clip_text_model", "encoder", ENCODER, tokens)
hugging_face("siglip_vision_model", "vision", ENCODER, image, **IMAGE)
MOE = {"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32,
       "n_routed_experts": 4, "output_router_logits": False}
for _name in ("mixtral", "qwen2_moe", "qwen3_moe", "olmoe", "phimoe", "granitemoe", "jetmoe", "deepseek_v3"):
    _own = {
        "jetmoe": {"kv_channels": 8, "num_key_value_heads": 2},
        "deepseek_v3": {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "head_dim": 8, "n_group": 2,
                        "topk_group": 1, "first_k_dense_replace": 0, **KV},
    }
    hugging_face(_name, "mixture of experts", LM, tokens, **{**MOE, **_own.get(_name, {})})
for _name in ("mixtral", "qwen3_moe", "olmoe", "phimoe", "granitemoe"):
    hugging_face(f"{_name}, batched_mm", "mixture of experts", LM, tokens, model_type=_name, experts="batched_mm", **MOE)
hugging_face("switch_transformers", "mixture of experts", SEQ2SEQ, pairs, d_model=lambda s: s["hidden_size"], d_kv=lambda s: s["head_dim"], d_ff=64,
             num_layers=2, num_decoder_layers=2, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1, num_heads=2, num_experts=4)
SSM = {"state_size": 8, "time_step_rank": 4, "conv_kernel": 4}
hugging_face("mamba", "state space", LM, tokens, **SSM)
hugging_face("falcon_mamba", "state space", LM, tokens, **SSM)
hugging_face("mamba2", "state space", LM, tokens, hidden_size=32, expand=2, num_heads=4, head_dim=16, state_size=8, n_groups=1, chunk_size=8)
hugging_face("rwkv", "state space", LM, tokens, context_length=32, attention_hidden_size=lambda s: s["hidden_size"])
hugging_face("recurrent_gemma", "state space", LM, tokens, num_hidden_layers=3, lru_width=lambda s: s["hidden_size"], attention_window_size=8)

# ---- timm --------------------------------------------------------------------------------------------------


def timm_model(name: str, kind: str, size: int, of: str = "", **sizes: Any) -> None:
    """A registered model by name; or one of a class, MODULE.CLASS, whose registered models have their sizes fixed."""

    def make(rng: random.Random) -> Model:
        import timm

        timm.layers.set_fused_attn(ATTENTION is None)
        classes = rng.choice((8, 16))
        if of:
            file, _, cls = of.partition(".")
            place = importlib.import_module(f"timm.models.{file}")
            own = {key: getattr(place, value) if isinstance(value, str) and hasattr(place, value) else value for key, value in sizes.items()}
            module = getattr(place, cls)(num_classes=classes, **own)
        else:
            module = timm.create_model(name, num_classes=classes, **sizes)
        for part in module.modules():  # random numbers would differ from PyTorch's
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
            if hasattr(part, "drop_prob"):
                part.drop_prob = 0.0
        return Model(module.train(), (torch.randn(BATCH, 3, size, size),))

    ARCHITECTURES.append(Architecture(f"timm/{name}", kind, "timm", make))


VIT = {"img_size": 16, "patch_size": 4, "embed_dim": 32, "depth": 2}
MLP = {"img_size": 16, "patch_size": 4, "embed_dim": 32, "num_blocks": 2}
timm_model("vit_tiny_patch16_224", "vision", 16, num_heads=4, **VIT)
timm_model("deit_tiny_distilled_patch16_224", "vision", 16, num_heads=4, **VIT)
timm_model("mixer", "vision", 16, "mlp_mixer.MlpMixer", **MLP)
timm_model("resmlp", "vision", 16, "mlp_mixer.MlpMixer", block_layer="ResBlock", norm_layer="Affine", mlp_ratio=4, **MLP)
timm_model("gmlp", "vision", 16, "mlp_mixer.MlpMixer", block_layer="SpatialGatingBlock", mlp_layer="GatedMlp", mlp_ratio=4, **MLP)
timm_model("cait_xxs24_224", "vision", 16, num_heads=4, **VIT)
timm_model("xcit_nano_12_p16_224", "vision", 32, img_size=32, patch_size=16, embed_dim=32, depth=2, num_heads=4)
timm_model("swin_tiny_patch4_window7_224", "vision", 32, img_size=32, window_size=4, embed_dim=16, depths=(2, 2), num_heads=(2, 4))
timm_model("eva02_tiny_patch14_224", "vision", 16, num_heads=4, **VIT)
timm_model("resnet18", "convolution", 32, channels=(8, 16, 16, 32), layers=(1, 1, 1, 1))
timm_model("resnext", "convolution", 32, "resnet.ResNet", block="Bottleneck", layers=(1, 1, 1, 1),
           channels=(16, 16, 32, 32), cardinality=4, base_width=16)
timm_model("convnext_atto", "convolution", 32, dims=(8, 16, 16, 32), depths=(1, 1, 1, 1))
timm_model("convmixer", "convolution", 16, "convmixer.ConvMixer", dim=16, depth=2, kernel_size=5, patch_size=4)
timm_model("mobilenetv3_small_050", "convolution", 32)
timm_model("tinynet_e", "convolution", 32)
timm_model("densenet121", "convolution", 32, growth_rate=8, block_config=(1, 1, 1, 1))
timm_model("edgenext_xx_small", "convolution", 64, dims=(8, 16, 24, 32), depths=(1, 1, 1, 1))
timm_model("metaformer", "convolution", 32, "metaformer.MetaFormer", depths=(1, 1), dims=(16, 32), token_mixers="Pooling")
