"""DistributedDataParallel's replicas, compared between ranks: states.py describes them for the record, trials.py makes changes that would keep
them equal."""
