"""Plain immutable values: what `dataclass(frozen=True, slots=True)` gives, at a fraction of the cost.

A frozen dataclass sets every field through `object.__setattr__`, which triples the cost of making one; loading a path
makes three for every message. And the `dataclasses` module, with what it imports and generates, is half the time that
`import bough` may take (docs/decisions/0008). Here a value is filled as an instance of a mutable twin with the same
slots, and then declared to be the real thing.

One field of a class may be `late`: worked out when somebody first looks at it (docs/decisions/0017). Its slot is empty
until then; once it is filled it is read like any other.
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
    about |= {"_maker": None, "_late_maker": None, "_defaults": defaults}
    if "late" in inherited:
        about["__slots__"] = *names, "_source"
    made: type[T] = type(cls.__name__, cls.__bases__, {**about, **_comparisons(names), **own, **inherited})
    if "late" in inherited:
        made.__getattr__ = _lateness(made)  # type: ignore[attr-defined]
    return made


def maker(cls: type[Any]) -> Callable[..., Any]:
    """What makes values of a class. It is compiled when it is first wanted: a program makes values of few classes."""
    if cls._maker is None:  # two threads may both find it so, and do the same
        cls._maker = cls.__new__ = _compile(cls, cls.__match_args__)
    return cls._maker  # type: ignore[no-any-return]


def late_maker(cls: type[Any]) -> Callable[..., Any]:
    """As `maker`, but in the place of the late field goes what works it out: a function and its arguments."""
    if cls._late_maker is None:
        cls._late_maker = _compile(cls, tuple("_source" if name == cls.late else name for name in cls.__match_args__))
    return cls._late_maker  # type: ignore[no-any-return]


def _compile(cls: type[Any], names: tuple[str, ...]) -> Callable[..., Any]:
    defaults = cls._defaults
    parameters = [f"{name}=_{name}" if name in defaults else name for name in names]
    source = _NEW.format(
        signature=", ".join(["cls", *parameters]),
        fill="; ".join(f"made.{name} = {name}" for name in names),
        check="made.__post_init__()" if "__post_init__" in vars(cls) else "",
    )
    scope: dict[str, Any] = {"twin": type(cls.__name__, (), {"__slots__": cls.__slots__})}
    scope |= {f"_{name}": default for name, default in defaults.items()}
    exec(source, scope)
    return scope["__new__"]  # type: ignore[no-any-return]


def _lateness(cls: type[Any]) -> Callable[[Any, str], Any]:
    field, slot = cls.late, getattr(cls, cls.late)
    fill, forget = slot.__set__, cls._source.__set__

    def __getattr__(self: Any, name: str) -> Any:
        """Called for an empty slot: fills it, if it is that of the late field."""
        if name != field:
            raise AttributeError(f"{cls.__name__} has no {name!r}.")
        if (source := self._source) is None:  # another thread has filled it meanwhile
            return slot.__get__(self)
        worked_out = source[0](*source[1:])
        fill(self, worked_out)
        forget(self, None)
        return worked_out

    return __getattr__


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
