"""vLLM plugin: two more architectures, one half each, for every multimodal model vLLM knows.

vLLM loads it through the entry point `vllm.general_plugins` in every process it starts. For an
upstream architecture X it registers `BifocalVision__X` and `BifocalLanguage__X`; an engine selects
one with `hf_overrides={"architectures": [...]}`. Only names are registered here; the classes are
built when an engine asks for them (see `vision_only` and `language_only`).
"""

VISION_PREFIX = "BifocalVision__"
LANGUAGE_PREFIX = "BifocalLanguage__"
WORKER_EXTENSION = "backend.engines.census.Census"


def register() -> None:
    """Entry point; safe to call more than once."""
    from vllm.model_executor.models.registry import _MULTIMODAL_MODELS, ModelRegistry

    for architecture in _MULTIMODAL_MODELS:
        vision, language = VISION_PREFIX + architecture, LANGUAGE_PREFIX + architecture
        ModelRegistry.register_model(vision, f"backend.engines.vision_only:{vision}")
        ModelRegistry.register_model(language, f"backend.engines.language_only:{language}")
