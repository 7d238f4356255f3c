"""The rules of the code base: what imports what, what is public, what is documented."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import bough

SOURCE = Path(bough.__file__).parent
TESTS = Path(__file__).parent

LAYERS = [
    {"errors", "locations"},
    {"model"},
    {"compress", "config", "db", "formats", "prices", "protocols", "recorder", "redact"},
    {"codec"},
    {"context"},
    {"storage"},
    {"ingest"},
    {"session", "turn", "answers"},
    {"store"},
    {"engines"},
    {"aio"},
    {"exporters", "importers", "providers"},
    {"agent", "adapters"},
    {"runtime"},
    {"channels", "server"},
    {"__main__", "cli"},
]
"""Each package or top-level module may import those of its own layer and of the layers above."""


def imports(path: Path) -> set[str]:
    """The packages and top-level modules that a file imports anywhere, except for type checking only."""
    tree = ast.parse(path.read_text("utf-8"))
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "bough":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bough."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("bough.")}
    return found


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__init__.py" or path.parent != SOURCE]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    level = next(place for place, packages in enumerate(LAYERS) if package_of(path) in packages)
    allowed = set().union(*LAYERS[: level + 1])
    assert imports(path) <= allowed, f"{path.name} imports {imports(path) - allowed}"


def modules() -> dict[str, Path]:
    """The files of bough by their module names."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements_at_load(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported: not those inside functions or for type checking only."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from statements_at_load(node.orelse)
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from statements_at_load(getattr(node, field, []))
        for handler in getattr(node, "handlers", []):
            yield from statements_at_load(handler.body)


def imports_at_load() -> dict[str, set[str]]:
    """Each module, and the modules of bough that it imports when it is loaded."""
    files = modules()
    found: dict[str, set[str]] = {name: set() for name in files}
    for name, path in files.items():
        for node in statements_at_load(ast.parse(path.read_text("utf-8")).body):
            targets = []
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [target if target in files else node.module for target in inside]
            found[name] |= {target for target in targets if target in files} - {name}
    return found


def assert_no_cycle(graph: Mapping[str, set[str]]) -> None:
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


def test_no_import_cycle_between_modules_at_load_time() -> None:
    assert_no_cycle(imports_at_load())


def test_no_import_cycle_between_packages_at_load_time() -> None:
    """Between the packages of each folder: those of `bough`, and those of each package in it."""
    folders: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, imported in imports_at_load().items():
        for target in imported:
            ours, theirs = module.split("."), target.split(".")
            common = next((n for n, pair in enumerate(zip(ours, theirs, strict=False)) if len(set(pair)) > 1), 0)
            if common:
                folders[".".join(ours[:common])][ours[common]].add(theirs[common])
    assert {"bough", "bough.db", "bough.db.sqlite", "bough.cli"} <= set(folders)
    for folder in folders.values():
        assert_no_cycle(folder)


def test_db_formats_and_providers_import_only_what_is_below_them() -> None:
    for path in FILES:
        if package_of(path) == "db":
            assert imports(path) <= {"db", "errors"}, path
        if package_of(path) == "formats":
            assert imports(path) <= {"formats", "model", "errors"}, path


def test_the_layers_name_every_package_and_no_other() -> None:
    assert set().union(*LAYERS) == {package_of(path) for path in FILES}


EDGES = {"importers", "exporters", "providers", "agent", "cli"}


def test_edges_do_not_meet_and_importers_never_see_the_store() -> None:
    for path in FILES:
        here = package_of(path)
        if here in EDGES - {"cli"}:
            assert imports(path) & EDGES <= {here}, path
        if here == "importers":
            allowed = {"importers", "formats", "model", "errors", "compress"}
            assert imports(path) <= allowed, path


def test_no_class_name_is_defined_twice() -> None:
    places = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):  # an underscore means local
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


ACROSS = {"contract", "properties", "growth", "reliability", "postgres"}
"""Folders of tests about a behaviour of several packages, or of a backend."""


def test_tests_mirror_the_source() -> None:
    packages = {path.parent.relative_to(SOURCE) for path in FILES if path.name == "__init__.py"}
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")} - {Path()}
    assert {folder for folder in folders if folder.parts[0] not in ACROSS} <= packages
    top = {package.name for package in packages if len(package.parts) == 1}
    tested = {folder.parts[0] for folder in folders}
    contracts = {path.stem.removeprefix("test_") for path in (TESTS / "contract").glob("test_*.py")}
    assert top <= tested | contracts


def test_every_public_name_is_exported_once_and_documented() -> None:
    assert list(bough.__all__) == sorted(set(bough.__all__), key=lambda name: (not name[0].isupper(), name))
    for name in bough.__all__:
        thing = getattr(bough, name)
        assert thing.__doc__, f"{name} has no docstring"


def test_every_public_method_has_a_docstring() -> None:
    for cls in (bough.Store, bough.Session, bough.Turn, bough.Recorder, bough.Tree):
        for name, member in vars(cls).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                assert member.__doc__, f"{cls.__name__}.{name} has no docstring"


def test_every_error_has_a_code_of_its_own_and_a_message_without_arguments() -> None:
    errors = [getattr(bough, name) for name in bough.__all__ if isinstance(getattr(bough, name), type)]
    errors = [error for error in errors if issubclass(error, bough.BoughError)]
    assert len({error.code for error in errors}) == len(errors)
    for error in errors:
        assert str(error()) == error.__doc__.strip()


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded after running code in a new process."""
    script = f"{code}; import sys; print(*sorted(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_bough_loads_none_of_its_modules_until_a_name_is_used() -> None:
    assert not {"bough.errors", "apsw", "typing", "json"} & loaded_by("import bough; bough.__version__; dir(bough)")
    assert {"bough.errors"} == {name for name in loaded_by("import bough; bough.Busy") if name.startswith("bough.")}
    assert "bough.protocols" not in loaded_by("from bough import connect, user, Store")


def test_a_protocol_is_imported_without_a_database() -> None:
    loaded = {name.split(".")[1] for name in loaded_by("from bough import MessagesSaver") if name.startswith("bough.")}
    assert loaded == {"errors", "model", "protocols"}
    assert not {"apsw", "bough.db"} & loaded_by("from bough import Recorder")


def test_public_names_are_those_that_type_checkers_and_editors_see() -> None:
    tree = ast.parse((SOURCE / "__init__.pyi").read_text("utf-8"))
    modules = {
        alias.asname: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert modules.pop("aio") == "bough"
    assert modules == {name: f"bough.{module}" for name, module in vars(bough)["_MODULE_OF"].items()}
    assert {"aio", *modules} == set(bough.__all__) <= set(dir(bough))
    with pytest.raises(AttributeError, match="'bough' has no attribute 'nothing'"):
        bough.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_using_bough_imports_nothing_heavy() -> None:
    loaded = loaded_by("import bough; bough.connect(':memory:').session('a')")
    heavy = {
        "asyncio",
        "zstandard",
        "psycopg",
        "click",
        "secrets",
        "importlib.resources",
        "sqlite3",
        "pathlib",
        "hashlib",
        "bough.model.imported",
        "concurrent",
    }
    assert not heavy & loaded


def callers(name: str) -> set[str]:
    """The files in which a function or method of this name is called."""
    found = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and name in (getattr(node.func, "id", ""), getattr(node.func, "attr", "")):
                found.add(str(path.relative_to(SOURCE)))
    return found


def test_every_message_that_is_stored_passes_one_function() -> None:
    assert callers("draft") == {"storage/messages.py"}


def test_every_statement_has_a_user() -> None:
    from bough.db import read_statements

    code = "\n".join(path.read_text("utf-8") for path in FILES)
    unused = [
        name for name in read_statements("sqlite") if f'"{name}"' not in code and not name.startswith("usage_by_")
    ]
    assert unused == []
