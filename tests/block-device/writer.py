"""How a writer tells the judge what is durable: it prints the number of each operation once it is."""

import os


def write_on(first, carry_out, errors=OSError):
    """Carries out operation `first` and those after it without end; `carry_out` returns when one is durable."""
    number = int(first)
    try:
        while True:
            carry_out(number)
            # Unbuffered: the note must be there although this process is killed.
            os.write(1, f"{number}\n".encode())
            number += 1
    except errors as met:
        # The power went: the judge decides whether it went at the right time.
        os.write(1, f"# {met}\n".encode())


def last_durable(printed, before):
    """Returns the number of the last durable operation by what a writer printed; `before` if there is none."""
    return max((int(line) for line in printed if line.isdigit()), default=before)
