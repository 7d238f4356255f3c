"""Plain immutable values: what `dataclass(frozen=True, slots=True)` gives, at a fraction of the cost.

A frozen dataclass sets every field through `object.__setattr__`, which triples the cost of making one; loading a path
makes three for every message. And the `dataclasses` module, with what it imports and generates, is half the time that
`import bough` may take (docs/decisions/0008). Here a value is filled as an instance of a mutable twin with the same
slots, and then declared to be the real thing.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")

_NEW = """
def __new__({signature}):
    made = twin()
    {fill}
    made.__class__ = cls
    {check}
    return made
"""


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Makes a class of annotated fields into one of immutable values. `__post_init__` may refuse a value."""
    return _build(cls, {"__setattr__": _refuse, "__delattr__": _refuse})


@dataclass_transform()
def workpiece(cls: type[T]) -> type[T]:
    """The same for what is passed from hand to hand and changes on the way."""
    return _build(cls, {"__hash__": None})


def replace(original: T, **changes: Any) -> T:
    """The same value with other fields."""
    fields: tuple[str, ...] = original.__match_args__  # type: ignore[attr-defined]
    return type(original)(**{name: getattr(original, name) for name in fields} | changes)


def _build(cls: type[T], own: dict[str, Any]) -> type[T]:
    names = tuple(cls.__annotations__)
    inherited = {key: item for key, item in vars(cls).items() if key not in (*names, "__dict__", "__weakref__")}
    defaults = {name: vars(cls)[name] for name in names if name in vars(cls)}

    def __new__(_: type[T], *given: Any, **named: Any) -> T:
        return maker(made)(made, *given, **named)  # type: ignore[no-any-return]

    about = {"__slots__": names, "__match_args__": names, "__new__": __new__, "__repr__": _repr}
    late = {"_maker": None, "_defaults": defaults}
    made: type[T] = type(cls.__name__, cls.__bases__, {**about, **late, **_comparisons(names), **own, **inherited})
    return made


def maker(cls: type[Any]) -> Callable[..., Any]:
    """What makes values of a class. It is compiled when it is first wanted: a program makes values of few classes."""
    if cls._maker is None:  # two threads may both find it so, and do the same
        names, defaults = cls.__match_args__, cls._defaults
        scope: dict[str, Any] = {"twin": type(cls.__name__, (), {"__slots__": names})}
        scope |= {f"_{name}": default for name, default in defaults.items()}
        exec(_source(names, defaults, "__post_init__" in vars(cls)), scope)
        cls._maker = cls.__new__ = scope["__new__"]
    return cls._maker  # type: ignore[no-any-return]


def _source(names: tuple[str, ...], defaults: dict[str, Any], checked: bool) -> str:
    parameters = [f"{name}=_{name}" if name in defaults else name for name in names]
    return _NEW.format(
        signature=", ".join(["cls", *parameters]),
        fill="; ".join(f"made.{name} = {name}" for name in names),
        check="made.__post_init__()" if checked else "",
    )


def _comparisons(names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    fields = attrgetter("__class__", *names)

    def __eq__(self: Any, other: object) -> Any:
        return fields(self) == fields(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(fields(self))

    def __reduce__(self: Any) -> tuple[Any, ...]:
        cls, *values = fields(self)
        return cls, tuple(values)

    return {"__eq__": __eq__, "__hash__": __hash__, "__reduce__": __reduce__}


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({fields})"


def _refuse(self: Any, name: str, *_: Any) -> NoReturn:
    raise AttributeError(f"{type(self).__name__} is immutable; {name!r} cannot be changed. Make another one.")
