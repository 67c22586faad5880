"""QaicMode: which of QAIC's two ways a model runs in, and which settings that way takes.

`aot` is two engines that are compiled ahead of time; `eager` is one fused engine on pixels, for
which nothing is compiled. Everything here raises SettingError (`bad_setting`). What the plugin
takes is read from its source and documentation (vllm-qaic v0.23.0).
"""

from __future__ import annotations

from backend.catalog import ModelSpec
from backend.catalog.spec import QaicMode
from backend.errors import SettingError
from backend.settings import Settings, flag
from backend.targets import Target

DTYPES = ("float16", "float32")
"""What the plugin's platform computes in."""

COMPILED_TYPES = {"quantization": "mxfp6", "kv_cache_dtype": "mxint8"}
"""Number types that exist only where something is compiled."""


def choose_mode(spec: ModelSpec, settings: Settings, target: Target) -> QaicMode | None:
    """The mode on QAIC: the one asked for, else the row's first; None on another target."""
    if target != "qaic":
        _refuse_elsewhere(settings, target)
        return None
    own: tuple[QaicMode, ...] = ("aot",) if spec.split else ("eager",)
    modes = spec.qaic_modes or own
    asked = settings.qaic_mode
    if asked and asked not in modes:
        raise SettingError(
            f"--qaic-mode {asked}: {spec.label} runs on QAIC in the mode {modes[0]} alone; leave "
            "--qaic-mode out or choose that."
        )
    if settings.topology == "fused":
        _refuse_fused(spec, modes, asked)
        return "eager"
    return asked or modes[0]


def check_mode_settings(settings: Settings, mode: QaicMode) -> None:
    """Refuse what the mode does not take, where a person set it."""
    if settings.dtype and settings.dtype not in DTYPES:
        raise SettingError(
            f"--dtype {settings.dtype}: QAIC computes in {' or '.join(DTYPES)}; leave --dtype out "
            "or choose one of them."
        )
    if mode == "aot":
        refuse_shared_devices(settings)
        return
    if settings.heights is not None or settings.widths is not None:
        raise SettingError(
            "--heights and --widths are sizes that are compiled ahead of time, and QAIC's eager "
            "mode compiles nothing: leave them out, or choose --qaic-mode aot where the model has "
            "it."
        )
    for name, value in COMPILED_TYPES.items():
        if getattr(settings, name) == value:
            raise SettingError(
                f"{flag(name)} {value} is for what is compiled ahead of time; QAIC's eager mode "
                f"does not take it: leave {flag(name)} out."
            )


def refuse_shared_devices(settings: Settings) -> None:
    """Two engines need two groups: neither empty, no device twice, none in common.

    The plugin does not want them equally long.
    """
    groups = (settings.vision_devices, settings.language_devices)
    together = [device for group in groups for device in group]
    if not all(groups) or len(set(together)) < len(together):
        raise SettingError(
            f"--vision-devices {_comma(groups[0])} and --language-devices {_comma(groups[1])} "
            "must be two groups without a device in common, each of at least one device and none "
            "twice; they may differ in length (for example 0 and 1,2,3)."
        )


def eager_devices(settings: Settings, count: int) -> tuple[int, ...]:
    """QIDs of the one engine, which spans `count` of them: those of the groups that a person named,
    else the first."""
    names = ("vision_devices", "language_devices")
    named = [name for name in names if name in settings.model_fields_set]
    devices = tuple(dict.fromkeys(qid for name in named for qid in getattr(settings, name)))
    if not named:
        return tuple(range(count))
    if len(devices) < count:
        flags = " and ".join(map(flag, named))
        raise SettingError(
            f"QAIC's eager mode runs one engine, here on {count} devices (--tensor-parallel-size), "
            f"but {flags} name {len(devices)} ({_comma(devices)}): name at least {count}, or "
            f"leave {flags} out."
        )
    return devices


def _refuse_elsewhere(settings: Settings, target: Target) -> None:
    if settings.qaic_mode:
        raise SettingError(
            f"--qaic-mode {settings.qaic_mode} is for --target qaic, and the target is {target}: "
            "leave one of them out."
        )


def _refuse_fused(spec: ModelSpec, modes: tuple[QaicMode, ...], asked: QaicMode | None) -> None:
    if "eager" not in modes:
        raise SettingError(
            f"--topology fused: on QAIC one engine runs in eager mode alone, and {spec.label} runs "
            "ahead of time compiled, as two engines: leave --topology out."
        )
    if asked == "aot":
        raise SettingError(
            "--topology fused and --qaic-mode aot exclude each other: on QAIC one engine runs in "
            "eager mode alone. Leave one of them out."
        )


def _comma(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values)) or "(none)"
