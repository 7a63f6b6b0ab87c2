"""The conversation of an attempt joined with its receipts, in the form that others read (ATIF)."""
