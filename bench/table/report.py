"""Turns the lines of table_bench and peers-bench (`SKEW CONTESTANT KEYS WAY THREADS NS`) into one table of medians."""
import statistics
import sys

times, spaces = {}, {}
for line in sys.stdin:
    skew, who, keys, *rest = line.split()
    if who == "space":
        spaces[int(keys)] = rest
        continue
    way, threads, ns = rest
    times.setdefault((int(keys), skew, int(threads), who, way), []).append(float(ns))


def median(keys, skew, threads, who, way):
    found = times.get((keys, skew, threads, who, way))
    return statistics.median(found) if found else None


def show(ns):
    return "-" if ns is None else f"{ns:.1f}"


def ratio(slow, fast):
    return "-" if slow is None or fast is None else f"{slow / fast:.1f}x"


print("ns of processor time a decision on each core; lower quartile of 800 parts, median of the rounds. governor reads its")
print("own clock, as it does by default, or is given the time, as the table is. Ratios: how much longer governor takes.\n")
head = ["keys", "order", "threads", "one", "batch 16", "M/s a core", "bare rmw", "governor", "given clock",
        "gov/one", "gov/batch", "given/one", "given/batch"]
rows = []
for keys, skew, threads in sorted({key[:3] for key in times}):
    one, batch = (median(keys, skew, threads, "table", way) for way in ("one", "batch"))
    own, given = (median(keys, skew, threads, "governor", way) for way in ("own-clock", "given-clock"))
    rows.append([f"{keys:,}", skew, str(threads), show(one), show(batch), f"{1000 / batch:.1f}",
                 show(median(keys, skew, threads, "bare", "-")), show(own), show(given),
                 ratio(own, one), ratio(own, batch), ratio(given, one), ratio(given, batch)])
widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
for row in [head] + rows:
    print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
print()
for keys, (size, load, evicted) in sorted(spaces.items()):
    print(f"{keys:,} keys: {size} bytes a key, {float(load):.0%} of the slots in use, {evicted} evicted on the way there")
