"""Progress by tqdm, where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, Optional

# Seconds of work that are done, those of the whole, and the step.
Progress = Callable[[float, float, str], None]


def bar(**options: Any) -> Any:
    """A bar of tqdm's; `None` where it is not installed."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return None
    return tqdm(**options)


@contextmanager
def shown(progress: bool) -> Iterator[Optional[Progress]]:
    """What shows how far a run is, in percent of its work; `None` where nothing does."""
    it = bar(total=100, bar_format="{desc} {percentage:3.0f} %|{bar}| {elapsed}<{remaining}") if progress else None
    if it is None:
        yield None
        return

    def show(done: float, whole: float, step: str) -> None:
        it.set_description_str(step, refresh=False)
        it.n = round(100 * done / whole, 1) if whole else 0
        it.refresh()

    with it:
        yield show
        it.n = 100
        it.refresh()
