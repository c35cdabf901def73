"""Files of the product are UTF-8, whatever the locale of the process is."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import negotiator

ASCII: Final = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
IMPORT_ALL: Final = """
import importlib, locale, pkgutil, negotiator
assert locale.getpreferredencoding(False) != "UTF-8"
for found in pkgutil.walk_packages(negotiator.__path__, "negotiator."):
    if ".migrations" not in found.name and not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""


def test_every_module_starts_in_a_locale_that_is_not_utf_8() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], env={**os.environ, **ASCII}, capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_no_text_is_read_in_the_encoding_of_the_locale() -> None:
    bare = re.compile(r"\.read_text\(\)|\.write_text\((?!.*(?:utf-8|encoding))|fdopen\(\w+, \"[rw]\"\)|\btext=True")
    found = {
        f"{path.name}: {line.strip()}"
        for path in Path(negotiator.__path__[0]).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if bare.search(line)
    }
    assert not found
