"""Pools of workers behind a NATS bus, in the packets of the Cordum Agent Protocol (CAP)."""
