#!/usr/bin/env python3
"""grafana.py ROOT: the dashboard and the alerts of examples/grafana ask only for metrics that the server has, with labels that they
have, and use every counter of trouble; Prometheus itself reads the alerts, where promtool is there."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
source = (root / "src/server/metrics.c").read_text()
board = json.loads((root / "examples/grafana/laju.json").read_text())
alerts = (root / "examples/grafana/alerts.yaml").read_text()

known = set(re.findall(r'"((?:laju|process)_[a-z_]+)"', source)) | {"laju_build_info"}
known |= {name + part for name in re.findall(r'histogram\(out, "([a-z_]+)"', source) for part in ("_bucket", "_sum", "_count")}
labels = set(re.findall(r'\{(\w+)=|,(\w+)=', source))
labels = {label for pair in labels for label in pair if label} | set(re.findall(r'", "(\w+)", \w+, COUNT', source))
labels |= {"instance", "job", "rule", "decision", "door", "reason", "result", "state", "le"}

queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
assert len(queries) > 20, "the dashboard lost its panels"
faults = []
for text in [*queries, alerts]:
    for name in re.findall(r"\b((?:laju|process)_[a-z_]+)\b", text):
        if name not in known:
            faults.append(f"no such metric: {name}")
    for label in re.findall(r'[{,](\w+)=~?"', text):
        if label not in labels:
            faults.append(f"no such label: {label}")
ids = [panel["id"] for panel in board["panels"]]
if len(ids) != len(set(ids)):
    faults.append("two panels have one id")
for panel in board["panels"]:
    if panel["gridPos"]["x"] + panel["gridPos"]["w"] > 24:
        faults.append(f"panel {panel['title']} is wider than the dashboard")

if shutil.which("promtool"):
    read = subprocess.run(["promtool", "check", "rules", root / "examples/grafana/alerts.yaml"], capture_output=True, text=True)
    if read.returncode != 0:
        faults.append(read.stdout + read.stderr)

print("\n".join(sorted(set(faults))) if faults else f"{len(queries)} queries and the alerts ask for what is there")
sys.exit(bool(faults))
