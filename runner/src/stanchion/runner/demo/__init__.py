"""The demo: one attempt as it should be, one that is killed, and the evidence of both."""
