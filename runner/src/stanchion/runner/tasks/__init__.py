"""A task folder, read and checked: what it asks for and the digest that names it."""
