#!/usr/bin/env python3
"""generate.py LINES FOLDER: one made-up hour of traffic as access.log, access.json, access.csv and access.log.gz in FOLDER.

A hundred thousand addresses, few of them busy; paths, sizes and browsers as logs have them.
"""
import gzip
import json
import pathlib
import random
import sys
import time

BROWSERS = ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Version/17.4 Mobile Safari/604.1",
            "curl/8.5.0", "-"]
TARGETS = ["/", "/api/v1/items?page=2&sort=price", "/login", "/static/app.3f9c1b.js", "/api/v1/users/42/orders"]


def requests(count):
    rng = random.Random(1)
    at = 1_790_000_000.0
    for _ in range(count):
        at += rng.expovariate(count / 3600)
        key = int(100_000 * rng.random() ** 4)
        yield at, f"10.{key >> 16}.{key >> 8 & 255}.{key & 255}", rng.choice(TARGETS), rng.choice(BROWSERS)


def main():
    count, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    second, text = None, ""
    with open(folder / "access.log", "w") as log, open(folder / "access.json", "w") as lines, \
            open(folder / "access.csv", "w") as table, gzip.open(folder / "access.log.gz", "wt", compresslevel=6) as packed:
        table.write("time,remote_addr,method,request_uri,status,user_agent\n")
        for at, address, target, browser in requests(count):
            if int(at) != second:
                second, text = int(at), time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(at))
            line = f'{address} - - [{text}] "GET {target} HTTP/1.1" 200 5316 "https://www.example.com/start" "{browser}"\n'
            log.write(line)
            packed.write(line)
            lines.write(json.dumps({"time": round(at, 3), "remote_addr": address, "method": "GET", "host": "www.example.com",
                                    "request_uri": target, "status": 200, "user_agent": browser}) + "\n")
            table.write(f'{at:.3f},{address},GET,{target},200,"{browser}"\n')


main()
