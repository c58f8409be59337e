"""The tree as EIP-7864 defines it, made anew for each root: slow, and hard to get wrong.

A tree is a dictionary. Its groups are parted bit by bit until one is alone; the 256 values of a
group are hashed as a list.
"""

from collections.abc import Mapping

from laneway.ubt.profile import ZERO, TreeProfile


def naive_root(profile: TreeProfile, pairs: Mapping[bytes, bytes]) -> bytes:
    groups: dict[bytes, dict[int, bytes]] = {}
    for key, value in pairs.items():
        if not (profile.is_zero_absent and value == ZERO):
            groups.setdefault(key[:31], {})[key[31]] = value
    return naive_node(profile, groups, 0)


def naive_node(
    profile: TreeProfile, groups: Mapping[bytes, Mapping[int, bytes]], depth: int
) -> bytes:
    if len(groups) < 2:
        for stem, values in groups.items():
            return naive_group(profile, stem, values)
        return ZERO
    sides: tuple[dict[bytes, Mapping[int, bytes]], ...] = ({}, {})
    for stem, values in groups.items():
        sides[int.from_bytes(stem, "big") >> (247 - depth) & 1][stem] = values
    left, right = (naive_node(profile, side, depth + 1) for side in sides)
    if profile.lifts_lone_child and ZERO in (left, right):
        return right if left == ZERO else left
    return naive_pair(profile, left, right)


def naive_group(profile: TreeProfile, stem: bytes, values: Mapping[int, bytes]) -> bytes:
    level = [
        naive_hash(profile, profile.leaf_tag + values[index]) if index in values else ZERO
        for index in range(256)
    ]
    while len(level) > 1:
        level = [naive_pair(profile, *level[at : at + 2]) for at in range(0, len(level), 2)]
    return naive_hash(profile, profile.stem_tag + stem + b"\x00" + level[0])


def naive_pair(profile: TreeProfile, left: bytes, right: bytes) -> bytes:
    if left == right == ZERO:
        return ZERO
    return naive_hash(profile, profile.branch_tag + left + right)


def naive_hash(profile: TreeProfile, content: bytes) -> bytes:
    return profile.hasher(content).digest()
