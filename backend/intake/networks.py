"""Networks: which addresses anyone on the internet could reach as well."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address

NOT_PUBLIC_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "192.0.0.0/24",  # protocol assignments; Oracle's metadata service
            "192.88.99.0/24",  # 6to4 relays, given up
            "168.63.129.16/32",  # Azure's host, reachable from inside only
        ),
    )
)
"""What Python 3.11 calls global."""

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
UNICAST_6 = ipaddress.IPv6Network("2000::/3")
DOCUMENTATION_6 = ipaddress.IPv6Network("3fff::/20")
ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(address: str) -> bool:
    """Whether an IP address is globally reachable; one that wraps an IPv4 address, if that is.

    Raises ValueError for what is no address.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv4Address):
        return _is_public_4(parsed)
    inner = _embedded(parsed)
    if inner:
        return _is_public_4(inner)
    return parsed in UNICAST_6 and parsed not in DOCUMENTATION_6 and parsed.is_global


def _is_public_4(address: IPv4Address) -> bool:
    if any(address in network for network in NOT_PUBLIC_4):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that packets to an IPv6 address would go on to, where there is one."""
    if address.teredo:
        return address.teredo[1]
    number = int(address)
    if address in NAT64 or (number >> 32) & 0xFFFFFFFF in ISATAP:
        return IPv4Address(number & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
