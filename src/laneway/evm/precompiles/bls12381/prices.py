"""The prices of the contracts of BLS12-381 (EIP-2537)."""

G1_TERM_BYTES, G2_TERM_BYTES, PAIR_BYTES = 160, 288, 384
"""A point and a scalar; a point of each group."""
G1_ADDITION, G2_ADDITION = 375, 600
G1_PRODUCT, G2_PRODUCT = 12_000, 22_500
PAIRING, PAIR = 37_700, 32_600
G1_MAP, G2_MAP = 5_500, 23_800
G1_DISCOUNTS = (
    *(1000, 949, 848, 797, 764, 750, 738, 728, 719, 712, 705, 698, 692, 687, 682, 677),
    *(673, 669, 665, 661, 658, 654, 651, 648, 645, 642, 640, 637, 635, 632, 630, 627),
    *(625, 623, 621, 619, 617, 615, 613, 611, 609, 608, 606, 604, 603, 601, 599, 598),
    *(596, 595, 593, 592, 591, 589, 588, 586, 585, 584, 582, 581, 580, 579, 577, 576),
    *(575, 574, 573, 572, 570, 569, 568, 567, 566, 565, 564, 563, 562, 561, 560, 559),
    *(558, 557, 556, 555, 554, 553, 552, 551, 550, 549, 548, 547, 547, 546, 545, 544),
    *(543, 542, 541, 540, 540, 539, 538, 537, 536, 536, 535, 534, 533, 532, 532, 531),
    *(530, 529, 528, 528, 527, 526, 525, 525, 524, 523, 522, 522, 521, 520, 520, 519),
)
G2_DISCOUNTS = (
    *(1000, 1000, 923, 884, 855, 832, 812, 796, 782, 770, 759, 749, 740, 732, 724, 717),
    *(711, 704, 699, 693, 688, 683, 679, 674, 670, 666, 663, 659, 655, 652, 649, 646),
    *(643, 640, 637, 634, 632, 629, 627, 624, 622, 620, 618, 615, 613, 611, 609, 607),
    *(606, 604, 602, 600, 598, 597, 595, 593, 592, 590, 589, 587, 586, 584, 583, 582),
    *(580, 579, 578, 576, 575, 574, 573, 571, 570, 569, 568, 567, 566, 565, 563, 562),
    *(561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 552, 551, 550, 549, 548, 547),
    *(546, 545, 545, 544, 543, 542, 541, 541, 540, 539, 538, 537, 537, 536, 535, 535),
    *(534, 533, 532, 532, 531, 530, 530, 529, 528, 528, 527, 526, 526, 525, 524, 524),
)
"""Thousandths of the price of each product, by the number of products in a sum; the last one is
that of every longer sum."""


def g1_addition(_data: bytes) -> int:
    return G1_ADDITION


def g2_addition(_data: bytes) -> int:
    return G2_ADDITION


def g1_sum(data: bytes) -> int:
    return total(len(data) // G1_TERM_BYTES, G1_PRODUCT, G1_DISCOUNTS)


def g2_sum(data: bytes) -> int:
    return total(len(data) // G2_TERM_BYTES, G2_PRODUCT, G2_DISCOUNTS)


def total(count: int, price: int, discounts: tuple[int, ...]) -> int:
    """No term costs nothing; the call fails then."""
    return count * price * discounts[min(count, len(discounts)) - 1] // 1_000


def pairing(data: bytes) -> int:
    return PAIRING + len(data) // PAIR_BYTES * PAIR


def g1_map(_data: bytes) -> int:
    return G1_MAP


def g2_map(_data: bytes) -> int:
    return G2_MAP
