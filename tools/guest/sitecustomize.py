"""Python imports this at start where its folder is first in PYTHONPATH, as `pdsim run` puts it. It hooks pdsim_guest in and then runs the
sitecustomize that Python would have found without it."""

import importlib.machinery
import importlib.util
import os
import sys


def _run_the_next_one() -> None:
    own = os.path.dirname(os.path.abspath(__file__))
    rest = [folder for folder in sys.path if os.path.abspath(folder) != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if "PDSIM_GUEST" in os.environ or "PDSIM_RECORD" in os.environ:
    _writes = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # nothing is written beside our own files
    import pdsim_guest  # noqa: F401

    if "PDSIM_GUEST_FORK_SERVER" in os.environ:
        from pdsim_guest import fork_server

        fork_server.serve()
    sys.dont_write_bytecode = _writes
_run_the_next_one()
