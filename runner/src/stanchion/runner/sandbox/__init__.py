"""How one gVisor sandbox is described, limited, started and ended on the host.

Nothing here knows of brokers, tasks or outcomes.
"""
