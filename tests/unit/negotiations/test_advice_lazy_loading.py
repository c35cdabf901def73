"""What a worker loads before it advises."""

import subprocess
import sys


def test_an_application_that_never_advises_does_not_load_numpy() -> None:
    script = "import sys, negotiator.compose.app; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
