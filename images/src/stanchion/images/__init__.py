"""The supervisor bundle, root file systems and image layers."""
