"""Which addresses are public: no spelling of a private one gets past the check."""

import pytest

from backend.errors import InputError
from backend.intake.address import parse_address, public_ip, resolve
from backend.intake.deadline import Deadline
from backend.intake.networks import is_public

from .pictures import LIMITS


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "127.255.255.254",
        "2130706433",
        "0x7f000001",
        "0x7f.0x0.0x0.0x1",
        "0177.0.0.1",
        "017700000001",
        "0",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "2852039166",  # 169.254.169.254
        "100.64.0.1",
        "192.0.0.192",
        "168.63.129.16",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[::127.0.0.1]",
        "[2002:7f00:1::]",
        "[2002:a9fe:a9fe::]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::7f00:1]",
        "[2001:0:1:1::80ff:fffe]",
        "[fe80::1]",
        "[fec0::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[100::1]",
        "[5f00::1]",
        "[2606:4700::5efe:7f00:1]",
        "192.88.99.1",
        "127.0.0.1.",
        "localhost.",
        "\uff11\uff12\uff17.0.0.1",
        "127\u30020\u30020\u30021",
        "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
        "localhost",
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_private_addresses_in_every_spelling(scheme: str, host: str) -> None:
    with pytest.raises(InputError) as caught:
        address = parse_address(f"{scheme}://{host}/latest/meta-data", LIMITS)
        public_ip(address, LIMITS, resolve, Deadline(5))
    assert caught.value.code == "url_refused"
    assert "private" in caught.value.message


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"],
)
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("port", ["0", "00", "65536", "99999999999", "-1", "port", "80:80", "+80"])
@pytest.mark.parametrize("host", ["http://example.com", "https://[2606:4700::1111]"])
def test_what_is_no_port_is_told_as_such(host: str, port: str) -> None:
    """Port 0 was taken for none, and the default asked instead."""
    with pytest.raises(InputError, match=r"port of this address .* 1 to 65535.* 80, 443") as caught:
        parse_address(f"{host}:{port}/cat.png", LIMITS)
    assert caught.value.code == "url_refused"


def test_a_port_that_is_not_allowed_names_those_that_are() -> None:
    with pytest.raises(InputError, match="Port 65535 is not allowed, only 80, 443"):
        parse_address("http://example.com:65535/", LIMITS)
