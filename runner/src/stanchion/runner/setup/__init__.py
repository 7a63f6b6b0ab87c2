"""A first configuration, and what a model gets under one."""
