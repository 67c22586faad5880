"""`--topology remote`: addresses and keys, and the `vllm serve` lines that belong to them."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from backend.engines.args import engine_args
from backend.engines.serve_args import front_args, image_template, serve_args, wire_dtype
from backend.errors import SettingError
from backend.plan import Plan, make_plan
from backend.settings import read_settings
from ui.command_line.engine_args import serve_line

URLS = {"vision_url": "http://a:8000", "language_url": "https://b/lm/"}


def planned(**flags: Any) -> Plan:
    return make_plan(read_settings({"target": "cpu", "topology": "remote", **URLS, **flags}))


def refusal(**flags: Any) -> str:
    with pytest.raises(SettingError) as caught:
        planned(**flags)
    return caught.value.message


def test_addresses_in_one_spelling_with_their_keys() -> None:
    plan = planned(vision_url="http://a:8000, https://c", vision_api_key="k1,k2")
    assert [(s.url, s.key, s.port) for s in plan.vision_servers] == [
        ("http://a:8000", "k1", 8000), ("https://c", "k2", 443),
    ]  # fmt: skip
    assert [(s.url, s.key, s.port) for s in plan.language_servers] == [("https://b/lm", None, 443)]
    assert plan.topology == "remote"


def test_one_key_is_for_all() -> None:
    plan = planned(language_url="http://b,http://c", language_api_key="secret")
    assert [server.key for server in plan.language_servers] == ["secret", "secret"]
    assert "secret" not in repr(plan)
    assert "secret" not in repr(read_settings({"language_api_key": "secret"}))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"vision_url": ""}, "--topology remote needs --vision-url"),
        ({"language_url": "b:8000"}, "'b:8000' has no http or https"),
        ({"language_url": "http://"}, "no host"),
        ({"language_url": "http://b:99999"}, "cannot be read"),
        ({"language_url": "http://b?x=1"}, "more than a path"),
        ({"vision_url": "http://u:p@a"}, "--vision-api-key"),
        ({"vision_url": "http://a,http://a/"}, "twice"),
        ({"vision_api_key": "a,b"}, "2 keys for 1 addresses"),
        ({"topology": "split"}, "--vision-url is for --topology remote"),
        ({"target": "qaic"}, "leave --topology out"),
        ({"model": "phi4_mm"}, "cannot be split"),
    ],
)
def test_what_cannot_be_right_is_told(flags: dict[str, Any], words: str) -> None:
    message = refusal(**flags)
    assert words in message
    assert "u:p" not in message


def test_a_key_is_in_no_message() -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({"vision_api_key": ["secret", 3]})
    assert "secret" not in caught.value.message


def test_servers_are_started_with_the_splits_arguments_and_what_http_needs() -> None:
    plan, split = planned(), make_plan(read_settings({"target": "cpu"}))
    served, own = serve_args(plan), engine_args(split)
    more = {
        "vision": {"chat_template": '{{ "<|image_pad|>" }}', "port": 8000},
        "language": {"enable_scale_out": True, "port": 443},
    }
    for role in ("vision", "language"):
        expected = {k: v for k, v in own[role].items() if k != "disable_log_stats"}
        named = {"served_model_name": f"bifocal-demo.{role}"}
        assert served[role] == {**expected, **named, **more[role]}
    line = serve_line(served["vision"])
    assert '{{ "<|image_pad|>" }}' in shlex.split(line)


def test_the_template_writes_the_first_images_placeholder() -> None:
    import jinja2

    for model, text in {"bifocal-demo": "<|image_pad|>", "llava": "<image>"}.items():
        template = image_template(planned(model=model, target="cuda"))
        assert jinja2.Template(template).render(messages=[{"content": "anything"}]) == text


def test_rendering_needs_no_devices_and_no_weights() -> None:
    args = front_args(planned(target="cuda", quantization="fp8"), "language")
    assert args["enable_mm_embeds"] is True
    assert args["model"].endswith("demo_model")
    assert not {"quantization", "tensor_parallel_size", "worker_extension_cls"} & set(args)


def test_more_servers_take_more_requests_at_once() -> None:
    one = planned()
    more = planned(vision_url="http://a,http://c", language_url="http://b,http://d,http://e")
    assert (one.capacity("vision"), one.capacity("language")) == (4, 16)
    assert (more.capacity("vision"), more.capacity("language")) == (8, 48)


def test_rows_travel_without_loss() -> None:
    assert wire_dtype(planned(target="cuda")) == "float32"
    assert wire_dtype(planned(target="cuda", dtype="bfloat16")) == "bfloat16"
