"""``python -m newfound`` is ``newfound``."""

from newfound.cli import main

if __name__ == "__main__":
    main()
