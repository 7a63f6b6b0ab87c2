"""`python -m stanchion.rehearsal`: the rehearse command without the rest of Stanchion."""

from stanchion.rehearsal.commands import rehearse

if __name__ == "__main__":
    rehearse(prog_name="stanchion rehearse")
