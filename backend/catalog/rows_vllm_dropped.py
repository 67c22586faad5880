"""Rows of vLLM's multi-image example that vLLM itself has dropped since."""

from backend.catalog.prompt_style import ExplicitPrompt, PartsMessage, Placeholders, TextMessage
from backend.catalog.shapes import CLIP_336, PARTS, QWEN_PAD
from backend.catalog.spec import ModelSpec

CHATML = (
    "{% if not add_generation_prompt is defined %}"
    "{% set add_generation_prompt = false %}{% endif %}"
    "{% for message in messages %}"
    "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""The chat template that Qwen-VL-Chat was made with and does not bring."""

ROWS: tuple[ModelSpec, ...] = (
    ModelSpec(
        key="aya_vision",
        label="Aya Vision 8B",
        hf_id="CohereLabs/aya-vision-8b",
        architecture="AyaVisionForConditionalGeneration",
        origins=("vllm",),
        last_vllm="0.24.0",
        split=False,
        prompt=PARTS,
        image_token="<image>",
        own_ctx_len=8192,
        max_num_seqs=2,
    ),
    ModelSpec(
        key="hyperclovax_seed_vision",
        label="HyperCLOVA X SEED Vision 3B",
        hf_id="naver-hyperclovax/HyperCLOVAX-SEED-Vision-Instruct-3B",
        architecture="HCXVisionForCausalLM",
        origins=("vllm",),
        last_vllm="0.28.0",
        split=False,
        prompt=PartsMessage(
            source="tokenizer",
            image_fields={"ocr": "", "lens_keywords": "", "lens_local_keywords": ""},
        ),
        image_token="<|dummy3|>",
        max_model_len=16384,
        remote_code=True,
    ),
    ModelSpec(
        key="qwen_vl_chat",
        label="Qwen-VL-Chat",
        hf_id="Qwen/Qwen-VL-Chat",
        architecture="QwenVLForConditionalGeneration",
        origins=("vllm",),
        last_vllm="0.23.0",
        split=False,
        prompt=TextMessage(Placeholders("Picture {i}: <img></img>\n"), override=CHATML),
        image_token="<img></img>",
        chat_image="Picture {i}: <img></img>",
        method="generate",
        stop_tokens=("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
        max_model_len=1024,
        max_num_seqs=2,
        hf_overrides={"architectures": ["QwenVLForConditionalGeneration"]},
        remote_code=True,
    ),
    ModelSpec(
        key="tarsier",
        label="Tarsier 7B",
        hf_id="omni-research/Tarsier-7b",
        architecture="TarsierForConditionalGeneration",
        origins=("vllm",),
        last_vllm="0.24.0",
        split=False,
        prompt=ExplicitPrompt(
            "USER: {placeholders}\n{question}\n ASSISTANT:", Placeholders("<image>")
        ),
        image_token="<image>",
        max_model_len=4096,
        remote_code=True,
        resolution=CLIP_336,
    ),
    ModelSpec(
        key="tarsier2",
        label="Tarsier2 Recap 7B",
        hf_id="omni-research/Tarsier2-Recap-7b",
        architecture="Tarsier2ForConditionalGeneration",
        origins=("vllm",),
        last_vllm="0.23.0",
        split=False,
        # All images of a message stand between one pair of marks.
        prompt=ExplicitPrompt(
            "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
            "<|im_start|>user\n<|vision_start|>{placeholders}<|vision_end|>{question}<|im_end|>\n"
            "<|im_start|>assistant\n",
            Placeholders(QWEN_PAD),
        ),
        image_token=QWEN_PAD,
        max_model_len=32768,
        hf_overrides={
            "architectures": ["Tarsier2ForConditionalGeneration"],
            "model_type": "tarsier2",
        },
        remote_code=True,
    ),
)
