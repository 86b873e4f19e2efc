"""What a pickle calls."""

from __future__ import annotations

from assay._assay import Drive


def drive(name: str, state: bytes) -> Drive:
    """The drive of this name in this state."""
    restored = Drive(name)
    restored.load(state)
    return restored
