"""The host daemon: holds provider keys, forwards model requests byte for byte, keeps receipts."""
