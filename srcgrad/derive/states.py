"""What is known of the adjoints at one place of a backward half, and where several ways meet."""

from __future__ import annotations

ABSENT, ZERO, PRESENT = "absent", "zero", "present"
NUMBER, EITHER = "number", "either"  # 0.0 whatever the shape of the primal, which is not bound there; 0.0 or PRESENT
State = dict[str, str]  # primal name -> what is known of its adjoint; missing means ABSENT


def names(*states: State) -> list[str]:
    """The primal names of which something is known, in order."""
    return list(dict.fromkeys(name for state in states for name in state))


def differ(primal: str, states: list[State]) -> bool:
    """Whether an adjoint exists after one way only."""
    kinds = {state.get(primal, ABSENT) for state in states}
    return len(kinds) > 1 and ABSENT in kinds


def changed(before: State, states: list[State]) -> list[str]:
    """Adjoints that are the number 0.0 before, whatever the shape of the primal, and something else after."""
    numbers = [primal for primal, kind in before.items() if kind == NUMBER]
    return [n for n in numbers if any(state.get(n, ABSENT) not in (NUMBER, ABSENT) for state in states)]


def joined(kinds: list[str]) -> str:
    """What is known after two ways: elsewhere than in a branch, a `NUMBER` is read where it was not taken only."""
    return next((kind for kind in (EITHER, PRESENT, ZERO, NUMBER) if kind in kinds), ABSENT)


def at_trip(before: State) -> State:
    """At the head of a trip what was zero before the loop may have been added to by another trip."""
    return {primal: PRESENT if kind == ZERO else kind for primal, kind in before.items()}
