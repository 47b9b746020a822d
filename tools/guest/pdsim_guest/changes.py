"""Arguments that `pdsim run --try-cures` changes, to see whether that cures what it found."""

import json
import os
from datetime import timedelta
from typing import Any, Dict


def changed(of: str, kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """The keyword arguments of a call to `of`, with what pdsim wants to see tried."""
    wanted: Dict[str, Any] = json.loads(os.environ.get("PDSIM_GUEST_CHANGE", "{}")).get(of, {})
    if "timeout" in wanted:
        wanted["timeout"] = timedelta(seconds=wanted["timeout"])
    return {**kwargs, **wanted}
