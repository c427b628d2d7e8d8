"""The whole of Onceward on one machine, with real servers: ``python -m worker.dev``.

``Stack`` is the same thing for tests and demonstrations; import it from ``worker.dev.stack``. Nothing is imported here,
so that a Python that is too old gets a sentence instead of a traceback from some module further down.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the check exists for those who have not read requires-python
    print("Onceward needs Python 3.11 or newer; this is %d.%d." % sys.version_info[:2], file=sys.stderr)  # noqa: UP031
    raise SystemExit(2)
