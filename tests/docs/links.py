#!/usr/bin/env python3
"""links.py ROOT: every relative link of the project's pages leads to a file, and every #part of one to a heading there."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
pages = [page for page in root.rglob("*.md") if not {"build", "target", "node_modules"} & set(page.parts)]
faults, seen = [], 0


def headings(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


for page in pages:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"\w+:", link):
            continue
        seen += 1
        name, _, part = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            faults.append(f"{page.relative_to(root)}: {link} leads nowhere")
        elif part and part not in headings(target):
            faults.append(f"{page.relative_to(root)}: {link}: no such heading")

print("\n".join(faults) if faults else f"{seen} links of {len(pages)} pages lead somewhere")
sys.exit(bool(faults) or not seen)
