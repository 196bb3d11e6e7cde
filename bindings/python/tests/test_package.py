"""What is in the package, and where it comes from."""

import pathlib
import re

from conftest import ROOT

import shardwise as sw
from shardwise._native import clib

PACKAGE = ROOT / "bindings/python"
HEADERS = ROOT / "capi/include/shardwise"
NOT_WRAPPED = {"shardwise.h"}  # the header that includes all others


def test_every_public_header_is_wrapped():
    included = set(re.findall(r'%include "shardwise/(\w+\.h)"', (PACKAGE / "swig/clib.i").read_text()))
    assert included == {path.name for path in HEADERS.glob("*.h")} - NOT_WRAPPED


def test_every_function_of_a_wrapped_header_is_there_or_omitted_on_purpose():
    omitted = (PACKAGE / "swig/omitted.i").read_text() + (PACKAGE / "swig/handles.i").read_text()
    regular = [re.compile(text) for text in re.findall(r'regextarget=1\) "(.*?)"', omitted)]
    for header in HEADERS.glob("*.h"):
        if header.name in NOT_WRAPPED:
            continue
        for name in re.findall(r"^SHW_API [^(]*?(shw_\w+)\(", header.read_text(), re.M):
            known = f"%ignore {name};" in omitted or any(r.search(name) for r in regular)
            known = known or name.endswith("_destroy")  # handles.i: the handle's object does it
            assert hasattr(clib, name) != known, name


def test_nothing_is_declared_twice():
    """The interface files have no prototype of the library, and Python no number of an enumeration."""
    for path in [*PACKAGE.glob("swig/*.i"), *PACKAGE.glob("native/*.[ch]")]:
        assert not re.search(r"\bSHW_API\b|^shw_status\* shw_|^typedef .* shw_\w+;", path.read_text(), re.M), path
    for path in PACKAGE.glob("src/shardwise/*.py"):
        assert not re.search(r"SHW_\w+ *= *\d", path.read_text()), path


def test_the_package_carries_what_it_needs():
    folder = pathlib.Path(sw.__file__).parent
    assert {p.name for p in folder.iterdir()} >= {"_clib.abi3.so", "libshardwise.so.0", "py.typed", "LICENSE", "THIRD_PARTY.md"}
    version = re.findall(r"#define SHW_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (HEADERS / "base.h").read_text())
    assert sw.__version__ == ".".join(version)
