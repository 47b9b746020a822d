"""Scripts written for GPUs on a machine without one: devices are pretended, and everything runs on the CPU.

  switching.py    decides when: at the first time that the script asks for a GPU
  devices.py      which GPU a tensor is said to be on
  mode.py         what every function of PyTorch does with devices
  runtime.py      torch.cuda's own functions
  accelerator.py  torch.accelerator's, which newer versions ask
  streams.py      streams, events and the contexts of them
  numbers.py      functions that PyTorch has for GPUs alone
  files.py        checkpoints, whose tensors remember their GPU
  refused.py      what cannot be pretended, by name
  calls.py        what a collective says about its tensors' devices
"""

from __future__ import annotations
