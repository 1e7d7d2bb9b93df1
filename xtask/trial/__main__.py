"""Repeats a newcomer's trial of Callboard, item by item, in a clean clone and a clean home, and prints what passed.

    python3 xtask/trial REPOSITORY BINARY XTASK [CHECK...]
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import answers  # noqa: F401  each of these adds its checks
import command_line  # noqa: F401
import demo  # noqa: F401
import first_look  # noqa: F401
import own_loop  # noqa: F401
import project_files  # noqa: F401
import prompts  # noqa: F401
import teamwork  # noqa: F401
import told  # noqa: F401
from world import CHECKS, World


def main(repository, binary, xtask, *only):
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{pathlib.Path(repository).resolve()}", folder], check=True)
        World.clone, World.binary, World.xtask = pathlib.Path(folder), pathlib.Path(binary).resolve(), pathlib.Path(xtask).resolve()
        tried = failed = 0
        for text, check in CHECKS:
            if only and check.__name__ not in only:
                continue
            tried += 1
            try:
                check()
                print(f"ok      {text}", flush=True)
            except Exception as why:  # whatever goes wrong is that item's failure
                failed += 1
                print(f"FAILED  {text}\n        {check.__name__}: {type(why).__name__}: {str(why)[:600]}", flush=True)
    print(f"\n{tried - failed} of {tried} items passed in {time.time() - began:.0f} s")
    sys.exit(failed > 0)


main(*sys.argv[1:])
