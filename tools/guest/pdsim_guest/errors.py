"""What PyTorch's exceptions mean, by pdsim's names of errors: PyTorch raises most of them as RuntimeErrors, so that their texts tell."""

_codes = (
    ("Application timeout caused pair closure", "group-unusable"),
    ("Wait timeout for key", "store-timeout"),
    ("Timed out waiting", "timeout"),
    ("Connect timeout", "timeout"),
    ("Connection refused", "connection-refused"),
    ("Connection closed by peer", "peer-closed"),
    ("reset by peer", "peer-closed"),
    ("Broken pipe", "peer-closed"),
    ("Socket closed", "group-unusable"),
    ("Expected to have finished reduction in the prior iteration", "reduction-not-finished"),
    ("Expected to mark a variable ready only once", "marked-ready-twice"),
    ("has been modified by an inplace operation", "saved-tensor-modified"),
    ("Default process group has not been initialized", "not-initialized"),
    ("trying to initialize the default process group twice", "already-initialized"),
    ("DDP expects same model across all ranks", "model-differs"),
    ("appears not to match", "model-differs"),
    ("doesn't have any parameters that require a gradient", "ddp-not-needed"),
    ("DistributedDataParallel is not needed when a module", "ddp-not-needed"),
    ("Your training graph has changed in this iteration", "static-graph-changed"),
    ("Detected at least one rank that exhausted inputs", "inputs-exhausted"),
    ("Invalid process group specified", "group-destroyed"),
    ("expected, but not set", "invalid-argument"),
    ("Error(s) in loading state_dict", "state-dict-mismatch"),
    ("element 0 of tensors does not require grad", "autograd-misuse"),
    ("Trying to backward through the graph a second time", "autograd-misuse"),
)


def code_of(error: BaseException) -> str:
    own = getattr(error, "pdsim_code", None)
    if own is not None:
        return str(own)
    text = str(error)
    for part, code in _codes:
        if part in text:
            return code
    return "program-raised"
