"""Which addresses a webhook may be sent to: none of a private network, unless its endpoint says so.

The address is judged when its socket is made, after all names and redirections, and that socket
connects to it and to no other: a name that answers differently the second time gains nothing.
"""

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

NAT64 = IPv6Network("64:ff9b::/96")
"""RFC 6052: an IPv4 address in its last four bytes. Networks without IPv4 reach all of it so."""

FORBIDDEN_4 = tuple(
    IPv4Network(net)
    for net in (
        "192.0.0.0/24",  # Protocol assignments: some Pythons hold parts of it for global.
        "192.88.99.0/24",  # 6to4 relays (RFC 7526).
        "168.63.129.16/32",  # Azure's metadata, the one cloud's that looks public.
    )
)

FORBIDDEN_6 = tuple(
    IPv6Network(net)
    for net in (
        "::/96",  # IPv4-compatible (RFC 4291 §2.5.5.1), with :: and ::1.
        "64:ff9b:1::/48",  # NAT64 of one's own network (RFC 8215).
        "2001::/32",  # Teredo: an IPv4 address in disguise (RFC 4380).
        "2002::/16",  # 6to4: another one (RFC 3056).
        "fec0::/10",  # Site-local (RFC 3879).
    )
)

ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""How an interface id begins that holds an IPv4 address (RFC 5214 §6.1)."""


class Forbidden(OSError):
    """This address is not one that the endpoint allows."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__(
            f"{address} is a private, local or reserved address; `allow_private` permits it"
        )


def is_public(text: str) -> bool:
    """Whether a stranger may make us connect there."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        inner = embedded(address)
        if inner is None:
            return is_public_6(address)
        address = inner
    if any(address in net for net in FORBIDDEN_4):
        return False
    return address.is_global and not address.is_multicast


def embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that is meant by this one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def is_public_6(address: IPv6Address) -> bool:
    if any(address in net for net in FORBIDDEN_6):
        return False
    if (int(address) >> 32) & 0xFFFF_FFFF in ISATAP:
        return False
    return address.is_global and not address.is_multicast


def guarded_socket(found: Any) -> socket.socket:
    """A socket for an address that was resolved; refuses where it may not go."""
    family, kind, protocol, _, place = found
    if not is_public(str(place[0])):
        raise Forbidden(str(place[0]))
    return socket.socket(family, kind, protocol)
