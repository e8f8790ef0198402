#!/usr/bin/env python3
"""exports.py LIBRARY.so HEADER...: the library shows what its public headers declare with LAJU_API, and nothing else."""
import pathlib
import re
import subprocess
import sys

library, *headers = sys.argv[1:]
declared = set()
for header in headers:
    declared |= set(re.findall(r"^LAJU_API [^;(]*?\b(laju_\w+)\(", pathlib.Path(header).read_text(), re.M))
listing = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], check=True, capture_output=True,
                         text=True).stdout
shown = {line.split()[0] for line in listing.splitlines()}

for name in sorted(declared - shown):
    print(f"{name} is declared and not exported")
for name in sorted(shown - declared):
    print(f"{name} is exported and not declared")
print(f"{len(declared)} functions declared, {len(shown)} exported")
sys.exit(declared != shown or not declared)
