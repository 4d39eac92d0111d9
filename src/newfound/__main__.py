"""The command ``newfound``, and ``python -m newfound``."""

import os
import signal


def main() -> None:
    """Run the command line; Control-C while it is imported ends the process without a word."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    from newfound.cli import main as run

    run()


if __name__ == "__main__":
    main()
