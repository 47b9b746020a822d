"""DistributedDataParallel's replicas, compared between ranks: states.py describes them for the record, inputs.py what their steps begin with, trials.py makes changes that would keep
them equal."""
