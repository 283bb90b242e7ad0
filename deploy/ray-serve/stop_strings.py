"""Text up to the first stop string, however it is cut into pieces."""

from __future__ import annotations

from typing import Sequence


class StopMatcher:
    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = stop
        self._held = ""
        self.is_stopped = False

    def push(self, text: str) -> str:
        """Returns the text that can be shown now: it is not part of a stop string, whatever comes next."""
        if self.is_stopped:
            return ""
        pending = self._held + text
        ends = [(at + len(s), at) for s in self._stop if (at := pending.find(s)) >= 0]
        if ends:
            self.is_stopped = True
            self._held = ""
            # Take the stop string that is complete first; among several, the one that begins first.
            return pending[: min(ends)[1]]
        shown = next((i for i in range(len(pending)) if self._may_begin(pending[i:])), len(pending))
        self._held = pending[shown:]
        return pending[:shown]

    def end(self) -> str:
        """Returns the text that was held back in case it became a stop string."""
        held, self._held = self._held, ""
        return held

    def _may_begin(self, text: str) -> bool:
        return any(s.startswith(text) for s in self._stop)
