"""Which addresses a fetch may reach: public ones, nothing that is ours, local or in disguise."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

_SPECIAL_V4: Final = tuple(
    IPv4Network(net)
    for net in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_UNICAST_V6: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(
    IPv6Network(net)
    for net in (
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether this numeric address is public unicast (IANA registries, RFC 6890).

    Of IPv6 only 2000::/3 is, less its special blocks: that leaves out loopback, ULA, link-local,
    IPv4-mapped and local NAT64; 6to4 and Teredo, which carry an IPv4 address of the sender's
    choice, are special blocks. The well-known NAT64 prefix is as public as the IPv4 address inside
    it.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return not any(ip in net for net in _SPECIAL_V4)
    if ip in _NAT64:
        return is_public(str(IPv4Address(int(ip) & 0xFFFF_FFFF)))
    return ip.scope_id is None and ip in _UNICAST_V6 and not any(ip in net for net in _SPECIAL_V6)


def is_loopback(address: str) -> bool:
    """Whether this numeric address is 127.0.0.0/8 or ::1, spelled plainly."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    return ip == IPv6Address(1) if isinstance(ip, IPv6Address) else ip.is_loopback
