"""The result folder: written as attempts end, read without a broker."""
