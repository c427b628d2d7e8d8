"""Korean words without particles and spoken endings, and the pairs of syllables that they are made of.

Korean hangs particles (조사) and endings on its words, and joins words or not as the writer likes. Cutting the common
endings finds the word; the pairs find what was joined otherwise: 법인카드 and 법인 카드 share two of them.
"""

from typing import Final

HANGUL: Final = "가-힣"

_PARTICLES: Final = """
에서는 에게서 으로는 이라고 에서 에게 한테 께서 으로 부터 까지 처럼 보다 마다 이랑 라고 이나 들 은 는 이 가 을 를 의
에 로 와 과 랑 도 만 나
"""
_ENDINGS: Final = """
해주시겠어요 해주실래요 해주세요 해주십시오 해줄래 해줘요 해줘 해봐 해라 해요 하고싶어요 하고싶어 하겠습니다
하려고요 하려면 하려고 합니다 합시다 했어요 했어 했는지 했는데 한다 하는 하기 하고 하자 할게요 할까 할래 한 할 해
부탁드립니다 부탁드려요 부탁해요 부탁해 주시겠어요 주세요 주실래요 줄래요 줄래 줘요 줘 달라고 드려요 되나요 됐어요
됐어 됐나 된 되는
"""
_EMPTY: Final = """
해 줘 줘요 주세요 해줘 해주세요 좀 그 이 저 것 거 걸 수 때 및 더 또 다 꼭 지금 제발 부탁 부탁해 부탁해요 부탁드려요
부탁드립니다 하고 하는 하기 합니다 싶어 싶어요 싶습니다 싶은데 원해요 원합니다 있어 있나요 있는지 하나 그냥 이거
그거 저거 우리 제가 내가 나 저는 나는
"""

TAILS: Final = frozenset(_PARTICLES.split() + _ENDINGS.split())
LONGEST_TAIL: Final = max(map(len, TAILS))

EMPTY: Final = frozenset(_EMPTY.split())
"""What a wish is wrapped in; says nothing about which tool is meant."""

LEFT: Final = 2
"""Syllables that are left at least: 휴가 and 문의 end like a particle."""

SURE: Final = frozenset("을를은는")
"""Hardly a noun ends in these, so they leave a single syllable too: 돈을."""


def cut(run: str) -> str:
    """The word without particles and endings: 환불해줘 is 환불, 고객들에게 is 고객."""
    while tail := _tail(run):
        run = run.removesuffix(tail)
    return run[0] if len(run) == LEFT and run[1] in SURE else run


def tokens(run: str) -> tuple[str, ...]:
    """The word and the pairs of its syllables; `run` is Hangul and nothing else."""
    word = cut(run)
    # With the pair across the cut, for what looks like a particle may be none: 여름휴가 is 여름 and 휴가.
    paired = run[: len(word) + 1]
    return tuple(dict.fromkeys((word, *(paired[place : place + 2] for place in range(len(paired) - 1)))))


def _tail(run: str) -> str | None:
    sizes = range(min(LONGEST_TAIL, len(run) - LEFT), 0, -1)
    return next((run[-size:] for size in sizes if run[-size:] in TAILS), None)
