"""Who computes a shared prefix on one engine, and who waits for it: nothing is computed twice because two asked at once. Pure."""

from __future__ import annotations

from collections import OrderedDict

from inference.gateway.queue import Waiting

REMEMBERED = 20_000  # prefixes known to be computed; the engine may have dropped one, which costs time and nothing else


class Prefixes:
    """The first to run with a prefix leads; the others follow at its first token, or when it has ended."""

    def __init__(self) -> None:
        self._leading: dict[tuple[str, str], str] = {}
        self._computed: OrderedDict[tuple[str, str], None] = OrderedDict()

    def follows(self, waiting: Waiting) -> bool:
        """Whether one of its prefixes is just being computed for somebody else."""
        return any(prefix in self._leading for prefix in waiting.shared)

    def known(self, waiting: Waiting) -> int:
        """How many of its first tokens were computed here."""
        ticket = waiting.ticket
        lengths = {ticket.prefix_hash: ticket.prefix_tokens, ticket.share_hash: ticket.share_tokens}
        return max((lengths[prefix[1]] for prefix in waiting.shared if prefix in self._computed), default=0)

    def lead(self, waiting: Waiting, rid: str) -> None:
        """It runs from now on, and computes whatever nobody has computed."""
        for prefix in waiting.shared:
            if prefix not in self._computed:
                self._leading.setdefault(prefix, rid)

    def computed(self, waiting: Waiting) -> None:
        """Its first token is there, so its prefixes are too."""
        for prefix in waiting.shared:
            self._leading.pop(prefix, None)
            self._computed[prefix] = None
            self._computed.move_to_end(prefix)
        while len(self._computed) > REMEMBERED:
            self._computed.popitem(last=False)

    def let_go(self, rid: str) -> None:
        """It has ended. What it led and did not finish is open to the next."""
        for prefix in [prefix for prefix, leader in self._leading.items() if leader == rid]:
            del self._leading[prefix]

    def forget(self) -> None:
        """The engine is gone, and all that it had computed."""
        self._leading.clear()
        self._computed.clear()
