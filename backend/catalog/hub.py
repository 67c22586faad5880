"""The few files of a Hugging Face repository that say what model it is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from backend.errors import ModelError, UnknownModelError

CONFIG = "config.json"
BESIDE = (
    "tokenizer_config.json",
    "processor_config.json",
    "preprocessor_config.json",
    "chat_template.jinja",
    "chat_template.json",
)
TIMEOUT_S = 5.0


def is_hub_id(name: str) -> bool:
    """Whether a repository could have this name, by the Hub's own rule."""
    from huggingface_hub.utils._validators import validate_repo_id

    try:
        validate_repo_id(name)
    except ValueError:
        return False
    return True


@cache
def config_folder(hf_id: str) -> Path:
    """A folder with the repository's config, and with what it has of `BESIDE`.

    From this machine where the config is here, else from the Hub. Raises ModelError:
    `unknown_model` where there is no such model, `model_unavailable` where the Hub does not answer
    or wants a login.
    """
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(hf_id, CONFIG)
    if isinstance(found, str):
        return Path(found).parent
    try:
        return _download(hf_id)
    except ModelError:
        raise
    except Exception as error:
        # Which errors the Hub's client has for a lost connection depends on its version.
        raise _explain(hf_id, error) from error


def _download(hf_id: str) -> Path:
    from huggingface_hub import HfApi, hf_hub_download

    # Asked first, because a download tries again and again where nobody answers.
    listed = HfApi().model_info(hf_id, timeout=TIMEOUT_S).siblings or ()
    files = {file.rfilename for file in listed}
    if CONFIG not in files:
        raise UnknownModelError(f"The repository {hf_id} on the Hub has no {CONFIG}.")
    config = hf_hub_download(hf_id, CONFIG, etag_timeout=TIMEOUT_S)
    for name in files.intersection(BESIDE):
        hf_hub_download(hf_id, name, etag_timeout=TIMEOUT_S)
    return Path(config).parent


def _explain(hf_id: str, error: Exception) -> ModelError:
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    if isinstance(error, GatedRepoError):
        return ModelError(
            "model_unavailable",
            f"{hf_id} is gated: accept its terms on its Hugging Face page and log in with "
            "`hf auth login`.",
        )
    if isinstance(error, RepositoryNotFoundError):
        return UnknownModelError(f"The Hub has no public repository {hf_id}.")
    return ModelError(
        "model_unavailable",
        f"The files of {hf_id} are not on this machine, and the Hub does not answer. Connect to "
        "the network, or give --model a folder that holds them.",
    )
