"""Settings: what a person may choose, read once at launch.

Sources, strongest first: flags (passed as keyword arguments), `BIFOCAL_*` environment variables,
a `.env` file. A field left at None takes its value from the model's row, else from the target
(see `backend.plan`).
"""

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from backend.env_file import silent_reader, warn_of_bad_lines
from backend.errors import SettingError
from backend.placement import Fit

PREFIX, ENV_FILE = "BIFOCAL_", ".env"
SHARED_RATE = 60
"""Questions a minute a session of an app with a public link."""
USERS_EXAMPLE = """BIFOCAL_AUTH='["ann:a,b", "bob:c"]'"""

SECRETS = ("auth", "vision_api_key", "language_api_key")
"""Settings whose values no message repeats."""

Pixels = Annotated[int, Field(le=100_000)]
SizeList = Annotated[tuple[Pixels, ...] | None, NoDecode]
PortList = Annotated[tuple[Annotated[int, Field(gt=0, le=65535)], ...], NoDecode]
DeviceList = Annotated[tuple[NonNegativeInt, ...], NoDecode]
StrList = Annotated[tuple[str, ...], NoDecode]


class Settings(BaseSettings):
    """Every setting of Bifocal; names are the flags' (`--like-this`) with underscores."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=ENV_FILE,
        env_file_encoding="utf-8",
        extra="forbid",
        frozen=True,
        env_ignore_empty=True,
    )

    model: str = Field("bifocal-demo", description="catalogue key, Hugging Face id, or a folder")
    target: Literal["auto", "cpu", "cuda", "qaic"] = Field(
        "auto", description="what the engines run on"
    )
    topology: Literal["split", "fused", "remote"] = Field(
        "split",
        description="split (two engines), fused (one engine, for comparison) or remote (two or "
        "more `vllm serve`)",
    )
    qaic_mode: Literal["aot", "eager"] | None = Field(
        None, description="on QAIC: aot (two compiled engines) or eager (one engine, no buckets)"
    )
    heights: SizeList = Field(None, description="compiled heights in pixels, comma-separated")
    widths: SizeList = Field(None, description="compiled widths, paired with the heights")
    fit: Fit = Field("stretch", description="stretch into the bucket, or pad (aspect kept)")
    vision_devices: DeviceList = Field((0,), description="device group of the vision encoder")
    language_devices: DeviceList = Field((1,), description="device group of the language decoder")
    seq_len: int | None = Field(None, gt=0, description="prefill length in tokens")
    ctx_len: int | None = Field(None, gt=0, le=10**8, description="context length in tokens")
    vision_batch: int | None = Field(None, gt=0, description="images the vision encoder batches")
    decode_batch: int | None = Field(None, gt=0, description="answers decoded at the same time")
    quantization: str | None = Field(None, description="weight quantization of the decoder")
    kv_cache_dtype: str | None = Field(None, description="KV cache type of the decoder")
    kv_cache_mb: int | None = Field(
        None, gt=0, le=10**7, description="KV cache of the decoder in MiB, on the CPU and on CUDA"
    )
    dtype: Literal["float32", "bfloat16", "float16"] | None = Field(
        None, description="type of weights and activations"
    )
    tensor_parallel_size: int | None = Field(None, gt=0, description="devices one engine spans")
    seed: int = Field(0, ge=0, lt=2**32, description="seed of the engines and of sampling")
    max_images: int | None = Field(None, gt=0, description="most images in one conversation")
    load_format: str = Field("auto", description="vLLM's load format; dummy for random weights")
    trust_remote_code: bool = Field(False, description="run code that comes with a model")
    vision_url: StrList = Field((), description="addresses of vision encoders, for remote")
    language_url: StrList = Field((), description="addresses of language decoders, for remote")
    vision_api_key: StrList = Field(
        (), repr=False, description="key of the vision encoders, or one for each"
    )
    language_api_key: StrList = Field(
        (), repr=False, description="key of the language decoders, or one for each"
    )
    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(7860, ge=0, le=65535, description="port to listen on; 0 picks a free one")
    auth: StrList = Field((), description="user:password that the page asks for; repeatable")
    share: bool = Field(
        False, description="a public link through Gradio's tunnel; asks for a password"
    )
    max_upload_mb: int = Field(20, gt=0, le=10_000, description="largest image file in MB")
    max_megapixels: float = Field(
        50, ge=0.01, le=10_000, allow_inf_nan=False, description="largest image in megapixels"
    )
    fetch_timeout: float = Field(
        10, gt=0, le=3600, allow_inf_nan=False, description="seconds one image URL may take"
    )
    allow_private_urls: bool = Field(
        False, description="let image URLs reach private addresses, and use proxies"
    )
    allow_ports: PortList = Field((80, 443), description="ports that image URLs may name")
    embedding_cache_mb: int = Field(256, ge=0, description="memory for embeddings seen before")
    max_queue: int = Field(64, gt=0, description="requests that may wait or run at once")
    rate_limit: int | None = Field(
        None, ge=0, le=10**6, description="questions a minute a session; 0 for any number"
    )
    log_prompts: bool = Field(False, description="write prompts to the log")

    @property
    def questions_a_minute(self) -> int:
        """How many one session may ask; 0 for any number. A public link is limited by itself."""
        return (SHARED_RATE if self.share else 0) if self.rate_limit is None else self.rate_limit

    @field_validator(
        "heights",
        "widths",
        "vision_devices",
        "language_devices",
        "allow_ports",
        "vision_url",
        "language_url",
        "vision_api_key",
        "language_api_key",
        mode="before",
    )
    @classmethod
    def _split_commas(cls, value: Any) -> Any:
        """`364,512` and repeated flags alike become a list."""
        if isinstance(value, str):
            value = [value]
        if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
            return [part.strip() for text in value for part in text.split(",") if part.strip()]
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _OwnDotEnv(settings_cls)

    @field_validator("auth", mode="before")
    @classmethod
    def _users_in_one_text(cls, value: Any) -> Any:
        """Flags come as a list, an entry each, kept as they are; a variable is one text for all."""
        return split_users(value) if isinstance(value, str) else value

    @field_validator("auth")
    @classmethod
    def _user_and_password(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not all(entry.partition(":")[::2]) for entry in value):
            raise ValueError(
                "each entry is user:password; give the flag once for each user. In a variable a "
                f"comma begins the next user; a list with commas in passwords: {USERS_EXAMPLE}"
            )
        names = [entry.partition(":")[0].strip() for entry in value]
        if len(set(names)) < len(names):
            raise ValueError("a user is named twice; give each one password")
        return value


class _OwnDotEnv(DotEnvSettingsSource):
    """`.env` without the variables of other programs, which `extra="forbid"` would refuse."""

    def __call__(self) -> dict[str, Any]:
        found = super().__call__()
        return {
            name: value
            for name, value in found.items()
            if name in Settings.model_fields or name.upper().startswith(PREFIX)
        }


def split_users(text: str) -> Any:
    """The users of `BIFOCAL_AUTH`: separated by commas, or a JSON list, which may have commas
    in its passwords.
    """
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            raise ValueError(f"a list of users is JSON: {USERS_EXAMPLE}") from None
    return [part.strip() for part in text.split(",") if part.strip()]


def flag(name: str) -> str:
    """The command-line flag of a field."""
    return "--" + name.replace("_", "-")


def nearest(word: str, known: Iterable[str]) -> str:
    """A closing sentence naming the known words closest to `word`, or all if few are close."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(known)}."


def read_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """Settings from flags, environment and `.env`.

    Raises SettingError (`bad_setting`) naming the flag, what is wrong and what is allowed; also for
    a `BIFOCAL_` variable that is no setting. Bad lines of `.env` are warned of.
    """
    _refuse_unknown_variables(os.environ)
    warn_of_bad_lines(Path(ENV_FILE), PREFIX)
    try:
        with silent_reader():
            return Settings(**(flags or {}))
    except ValidationError as error:
        raise SettingError(" ".join(map(_explain, error.errors()))) from None


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    for name in environment:
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            shown = "".join(c if c.isprintable() else "\ufffd" for c in name)
            raise SettingError(f"{shown} is not a setting. {nearest(name.upper(), known)}")


def _explain(error: Any) -> str:
    field = str(error["loc"][0]) if error["loc"] else "settings"
    given = error.get("input")
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        bare = field.removeprefix(PREFIX.lower())
        return f"{field} is not a setting. {nearest(bare, Settings.model_fields)}"
    shown = "" if field in SECRETS else f" (given: {given!r})"
    return f"{flag(field)}: {message[0].lower()}{message[1:]}{shown}."


def repository() -> Path:
    """The folder that holds `launch.py` and `assets`."""
    return Path(__file__).resolve().parent.parent
