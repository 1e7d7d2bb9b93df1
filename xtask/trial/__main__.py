"""Repeats a newcomer's trial of Callboard, item by item, in a clean clone and a clean home, and prints what passed.

    python3 xtask/trial REPOSITORY BINARY
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import command_line, first_look, own_loop, prompts  # noqa: E401, F401  each adds its checks
from world import CHECKS, World


def main(repository, binary, *only):
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{pathlib.Path(repository).resolve()}", folder], check=True)
        World.clone, World.binary = pathlib.Path(folder), pathlib.Path(binary).resolve()
        failed = 0
        for text, check in CHECKS:
            if only and check.__name__ not in only:
                continue
            try:
                check()
                print(f"ok      {text}", flush=True)
            except Exception as why:  # whatever goes wrong is that item's failure
                failed += 1
                print(f"FAILED  {text}\n        {check.__name__}: {type(why).__name__}: {str(why)[:600]}", flush=True)
    print(f"\n{len(CHECKS) - failed} of {len(CHECKS)} items passed in {time.time() - began:.0f} s")
    sys.exit(failed > 0)


main(*sys.argv[1:])
