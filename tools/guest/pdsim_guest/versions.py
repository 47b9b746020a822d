"""Which PyTorch the script has. The rest of the package asks here, and what only PyTorch 2.x needs is in torch2/."""

import re
from typing import Tuple

oldest = (1, 13)


class Unsupported(ImportError):
    """Ends the import of torch.distributed; pdsim says so in one line."""

    def __init__(self, version: str) -> None:
        super().__init__(f"pdsim run does not support PyTorch {version}", name="torch")
        self.pdsim_unsupported = version


def text() -> str:
    from torch.version import __version__

    return str(__version__)


def number() -> Tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", text())
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def is_2() -> bool:
    return number() >= (2, 0)


def require_known() -> None:
    if number() < oldest:
        raise Unsupported(text())
