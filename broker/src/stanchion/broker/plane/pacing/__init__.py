"""How one provider account is asked: whose turn it is, how long to wait, when to give up."""
