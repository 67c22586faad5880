"""Settings: where values come from, and that a wrong one is named without giving secrets away."""

from pathlib import Path

import pytest

from backend.errors import SettingError
from backend.settings import flag, nearest, read_settings


def refusal(flags: dict[str, object] | None = None) -> str:
    with pytest.raises(SettingError) as caught:
        read_settings(flags)
    assert caught.value.code == "bad_setting"
    assert caught.value.exit_status == 2
    return caught.value.message


def test_defaults_are_the_contracts() -> None:
    settings = read_settings()
    expected = {
        "model": "bifocal-demo",
        "target": "auto",
        "topology": "split",
        "heights": None,
        "widths": None,
        "fit": "stretch",
        "vision_devices": (0,),
        "language_devices": (1,),
        "seq_len": None,
        "ctx_len": None,
        "seed": 0,
        "load_format": "auto",
        "trust_remote_code": False,
        "host": "127.0.0.1",
        "port": 7860,
        "auth": (),
        "share": False,
        "max_upload_mb": 20,
        "max_megapixels": 50,
        "fetch_timeout": 10,
        "allow_private_urls": False,
        "allow_ports": (80, 443),
        "embedding_cache_mb": 256,
        "max_queue": 64,
        "log_prompts": False,
    }
    assert {name: getattr(settings, name) for name in expected} == expected


def test_a_flag_wins_over_the_environment_over_the_file(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty_folder / ".env").write_text("BIFOCAL_PORT=1001\nBIFOCAL_SEED=1\nBIFOCAL_HOST=file\n")
    monkeypatch.setenv("BIFOCAL_PORT", "1002")
    monkeypatch.setenv("BIFOCAL_SEED", "2")
    settings = read_settings({"port": "1003"})
    assert (settings.port, settings.seed, settings.host) == (1003, 2, "file")


def test_lists_are_comma_separated_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """pydantic-settings would read a list from the environment as JSON and fail."""
    monkeypatch.setenv("BIFOCAL_HEIGHTS", "364,512")
    monkeypatch.setenv("BIFOCAL_WIDTHS", " 532 , 910 ")
    settings = read_settings()
    assert (settings.heights, settings.widths) == ((364, 512), (532, 910))


def test_lists_are_comma_separated_in_the_file(empty_folder: Path) -> None:
    (empty_folder / ".env").write_text("BIFOCAL_ALLOW_PORTS=80,8080\n")
    assert read_settings().allow_ports == (80, 8080)


@pytest.mark.parametrize("given", ["364,512", ["364,512"], ["364", "512"], (364, 512), [364, 512]])
def test_lists_as_flags_and_from_programs(given: object) -> None:
    assert read_settings({"heights": given}).heights == (364, 512)


def test_auth_is_repeatable_and_a_password_may_have_colons() -> None:
    assert read_settings({"auth": ["ann:one", "bob:t:w:o"]}).auth == ("ann:one", "bob:t:w:o")


def test_a_password_given_as_a_flag_may_have_commas() -> None:
    """It was split, and the pieces refused or, worse, taken for a second user."""
    assert read_settings({"auth": ["ann:a,b", "bob:c,d:e"]}).auth == ("ann:a,b", "bob:c,d:e")


@pytest.mark.parametrize(
    ("value", "users"),
    [
        ("ann:one", ("ann:one",)),
        ("ann:one, bob:two", ("ann:one", "bob:two")),
        ('["ann:a,b", "bob:c"]', ("ann:a,b", "bob:c")),
    ],
)
def test_users_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str, users: tuple[str, ...]
) -> None:
    monkeypatch.setenv("BIFOCAL_AUTH", value)
    assert read_settings().auth == users


@pytest.mark.parametrize("value", ["ann:geheim,wort", '["ann:geheim,wort"', '[1, "ann:geheim"]'])
def test_users_in_the_environment_that_cannot_be_told_apart(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("BIFOCAL_AUTH", value)
    message = refusal()
    assert "--auth" in message
    assert "geheim" not in message


def test_a_comma_in_the_environment_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_AUTH", "ann:geheim,wort")
    assert """BIFOCAL_AUTH='["ann:a,b", "bob:c"]'""" in refusal()


def test_a_user_named_twice_is_refused() -> None:
    assert "named twice" in refusal({"auth": ["ann:one", "ann:two"]})


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_CTX_LEN", "")
    assert read_settings().ctx_len is None


def test_variables_of_other_programs_are_left_alone(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `.env` is often shared; forbidding extra values must not reach names without the prefix."""
    monkeypatch.setenv("OTHER_PORT", "x")
    (empty_folder / ".env").write_text("OTHER_PROGRAM=1\nBIFOCAL_PORT=1001\n")
    assert read_settings().port == 1001


def test_a_misspelt_variable_names_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_HIEGHTS", "364")
    message = refusal()
    assert "BIFOCAL_HIEGHTS" in message
    assert "BIFOCAL_HEIGHTS" in message


def test_a_misspelt_variable_in_the_file_names_the_nearest(empty_folder: Path) -> None:
    (empty_folder / ".env").write_text("BIFOCAL_HIEGHTS=364\n")
    assert "heights" in refusal()


def test_a_misspelt_variable_does_not_show_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_AUHT", "ann:geheim")
    assert "geheim" not in refusal()


def test_a_variable_is_found_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("bifocal_port", "1001")
    assert read_settings().port == 1001


def test_an_unknown_flag_names_the_nearest() -> None:
    assert "heights" in refusal({"hieghts": "364"})


def test_far_from_everything_all_are_listed() -> None:
    assert "decode_batch" in refusal({"zzzzzzzz": "1"})


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("port", "x", "--port"),
        ("port", "70000", "--port"),
        ("port", "-1", "--port"),
        ("target", "gpu", "'cuda'"),
        ("topology", "sideways", "'fused'"),
        ("fit", "crop", "'pad'"),
        ("heights", "364,tall", "'tall'"),
        ("ctx_len", "0", "--ctx-len"),
        ("seq_len", "-5", "--seq-len"),
        ("seed", "-1", "--seed"),
        ("seed", str(2**32), "--seed"),
        ("max_megapixels", "nan", "--max-megapixels"),
        ("max_megapixels", "inf", "--max-megapixels"),
        ("fetch_timeout", "inf", "--fetch-timeout"),
        ("fetch_timeout", "1e11", "--fetch-timeout"),
        ("fetch_timeout", "0", "--fetch-timeout"),
        ("max_upload_mb", "0", "--max-upload-mb"),
        ("trust_remote_code", "perhaps", "--trust-remote-code"),
    ],
)
def test_a_wrong_value_names_its_flag(name: str, value: str, shown: str) -> None:
    """`inf` once got through and became an OverflowError far from here."""
    message = refusal({name: value})
    assert flag(name) in message
    assert shown in message


def test_every_wrong_value_is_told_at_once() -> None:
    message = refusal({"port": "x", "seed": "y"})
    assert "--port" in message
    assert "--seed" in message


@pytest.mark.parametrize("entry", ["geheim", "ann:", ":geheim"])
def test_a_wrong_auth_is_refused_without_showing_it(entry: str) -> None:
    message = refusal({"auth": [entry]})
    assert "--auth" in message
    assert "user:password" in message
    assert "geheim" not in message


def test_settings_do_not_change_after_launch() -> None:
    settings = read_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.port = 1  # type: ignore[misc]


def test_nearest_names_few_and_lists_all_when_none_is_close() -> None:
    assert nearest("heigth", ["height", "width"]) == "Did you mean height?"
    assert nearest("zzz", ["b", "a"]) == "Known: a, b."


def test_a_negative_device_is_refused() -> None:
    assert "--vision-devices" in refusal({"vision_devices": "-1"})


def test_a_list_of_one_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_HEIGHTS", "364")
    monkeypatch.setenv("BIFOCAL_WIDTHS", "532")
    settings = read_settings()
    assert (settings.heights, settings.widths) == ((364,), (532,))


def test_a_file_that_is_no_text_is_told(empty_folder: Path) -> None:
    (empty_folder / ".env").write_bytes("BIFOCAL_PORT=1\n".encode("utf-16"))
    with pytest.raises(SettingError, match="UTF-8"):
        read_settings()


def test_a_variables_name_cannot_write_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_\x1b[31m", "1")
    with pytest.raises(SettingError) as caught:
        read_settings()
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_megapixels", "1e308"),
        ("max_megapixels", "1e-300"),
        ("max_upload_mb", "9" * 40),
        ("ctx_len", "9" * 30),
        ("heights", "99999999999"),
        ("allow_ports", "99999"),
        ("allow_ports", "-1"),
        ("fetch_timeout", "nan"),
    ],
)
def test_a_value_beyond_all_use_is_refused(name: str, value: str) -> None:
    with pytest.raises(SettingError, match="--" + name.replace("_", "-")):
        read_settings({name: value})


def test_a_bad_line_of_the_file_is_told_once(
    empty_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """python-dotenv told it at every reading, without the file's name; the empty lines count."""
    (empty_folder / ".env").write_text(
        'BIFOCAL_SEED=3\n\n\nBIFOCAL_AUTH="ann:geheim\n# a comment\nexport BIFOCAL_PORT=1001\n'
    )
    settings = read_settings()
    assert (settings.seed, settings.port, settings.auth) == (3, 1001, ())
    (told,) = caplog.messages
    assert told.startswith(".env, line 4 is left out: it is not NAME=value.")
    assert "geheim" not in told


@pytest.mark.parametrize("line", ["=1", "BIFOCAL_SEED='1", 'BIFOCAL_SEED="1" 2', "BIFOCAL_SEED"])
def test_every_kind_of_bad_line_is_told(
    empty_folder: Path, caplog: pytest.LogCaptureFixture, line: str
) -> None:
    (empty_folder / ".env").write_text(f"BIFOCAL_PORT=1001\n{line}\n")
    assert (read_settings().port, read_settings().seed) == (1001, 0)
    assert all(".env, line 2 is left out" in told for told in caplog.messages)
    assert len(caplog.messages) == 2


def test_other_programs_lines_are_not_told_of(
    empty_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (empty_folder / ".env").write_text("OTHER\nPORT=x\n\ufeff#\n'quoted'=1\n")
    assert read_settings().port == 7860
    assert caplog.messages == []


def test_a_file_that_cannot_be_read_is_a_wrong_setting(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty_folder / ".env").write_text("BIFOCAL_PORT=1001\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert "you may not read it" in refusal()
