"""No webhook reaches a private network by any spelling of its address."""

import socket

import pytest

from laneway.feeds.guard import Forbidden, guarded_socket, is_public

FORBIDDEN = (
    # Private, shared, loopback, link-local.
    "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 127.0.0.1 127.8.9.10 169.254.0.1",
    # This network, protocol assignments, documentation, benchmarking, reserved, broadcast.
    "0.0.0.0 0.1.2.3 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1",
    "255.255.255.255 224.0.0.1 239.255.255.250 233.252.0.1",
    # Metadata services: AWS and others, Azure, Alibaba, Oracle, AWS over IPv6.
    "169.254.169.254 168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254",
    # IPv6: unspecified, loopback, link-local (with a zone), unique local, site-local, multicast.
    ":: ::1 fe80::1 fe80::1%eth0 fc00::1 fd12:3456::1 fec0::1 ff02::1 ff0e::1",
    # Documentation, discard, and IPv4 in disguise: compatible, mapped, NAT64, 6to4, Teredo, ISATAP.
    "2001:db8::1 100::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe",
    "64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::8.8.8.8",
    "2002:7f00:1:: 2002:808:808:: 2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2600::5efe:10.0.0.1 2600::200:5efe:10.0.0.1",
    # No address at all.
    "localhost 127.1 0x7f000001 2130706433 1.2.3.4.5",
)
PUBLIC = ("8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8")


@pytest.mark.parametrize("address", [one for line in FORBIDDEN for one in line.split()])
def test_a_local_address_is_no_place_for_a_webhook(address: str) -> None:
    assert not is_public(address)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with pytest.raises(Forbidden) as caught:
        guarded_socket((family, socket.SOCK_STREAM, 0, "", (address, 80)))
    assert caught.value.address in str(caught.value)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is(address: str) -> None:
    assert is_public(address)


def test_the_socket_is_of_the_address_that_was_judged() -> None:
    made = guarded_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 80)))
    with made:
        assert (made.family, made.type) == (socket.AF_INET, socket.SOCK_STREAM)
