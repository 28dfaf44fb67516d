"""``python -m mockdriver`` is the same program as ``mockdriver``."""

from mockdriver.cli import main

if __name__ == "__main__":
    main()
