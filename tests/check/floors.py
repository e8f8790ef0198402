#!/usr/bin/env python3
"""Holds the sources to the plan of the house (docs/architecture.md): who includes whom, and what is never called.

    floors.py [ROOT]        checks src/ and include/ under ROOT (default: this project); exit 1 and a line for each fault
    floors.py --self-test   makes small trees, each with one fault, and checks that each is found
"""
import pathlib
import re
import sys
import tempfile

FLOORS = {"base": 0, "core": 1, "tls": 1, "table": 2, "redis": 2, "config": 2, "limiter": 3, "proto": 4, "server": 5, "replay": 5, "load": 5, "cli": 6}
LINES_MAX = 600

CORE_HEADERS = {"base/bytes.h", "base/siphash.h", "laju/laju.h", "stdbool.h", "stddef.h", "stdint.h"}
SOCKET_HEADERS = {"uv.h", "netdb.h", "poll.h", "sys/socket.h", "sys/un.h", "sys/epoll.h", "netinet/in.h",
                  "netinet/tcp.h", "arpa/inet.h", "hiredis/hiredis.h"}
ADDRESS_HEADERS = {"sys/un.h", "netinet/in.h", "arpa/inet.h"}  # how addresses are written: base and config read them
SERVER_FLOOR = 5  # sockets and loops live from here up, in redis, which links the shared store, and in tls

NEVER = "strcpy strcat sprintf vsprintf strtok atoi atol atoll gets alloca".split()
NOT_IN_LIBRARIES = "exit _exit abort printf fprintf vfprintf vprintf puts fputs perror syslog".split()
NOT_IN_CORE = ("malloc calloc realloc free time clock clock_gettime gettimeofday fopen open read write memcpy memmove "
               "memset memcmp strlen").split()  # the mem* as __builtin_*: core includes no <string.h>

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LATER = re.compile(r"\b(TODO|FIXME|XXX)\b")


def blank(match):
    """The same number of lines, and nothing on them."""
    return '""' + "\n" * match.group().count("\n")


def room_of(name):
    return name.split("/")[0] if "/" in name and name.split("/")[0] in FLOORS else None


def include_faults(room, quote, name):
    floor, target = FLOORS[room], room_of(name)
    if target and quote == '"' and target != room and FLOORS[target] >= floor:
        yield f"{room} (floor {floor}) includes {name} (floor {FLOORS[target]})"
    if quote == '"' and not target:
        yield f'"{name}" names no room: write "ROOM/FILE.h"'
    if name.startswith("laju/") and room == "base":
        yield f"base knows no rules, and includes {name}"
    sockets = floor >= SERVER_FLOOR or room in ("redis", "tls") or (room in ("base", "config") and name in ADDRESS_HEADERS)
    if name in SOCKET_HEADERS and not sockets:
        yield f"{room} knows no sockets, and includes {name}"
    if name == "unistd.h" and room == "proto":
        yield "proto does no input or output, and includes unistd.h"
    if room == "core" and target != "core" and name not in CORE_HEADERS:
        yield f"core is freestanding, and includes {name}"


def calls(code, names):
    for match in re.finditer(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(", code):
        yield match.group(1), code.count("\n", 0, match.start()) + 1


def banned_calls(room, name):
    banned = list(NEVER)
    if room and FLOORS[room] < SERVER_FLOOR and (room, name) != ("base", "log.c"):
        banned += NOT_IN_LIBRARIES
    return banned + NOT_IN_CORE if room == "core" else banned


def file_faults(room, name, text):
    """(line, fault) of one file of a room; room None is the public header."""
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if room:
            for fault in include_faults(room, *match.groups()):
                yield line, fault
        elif match.group(1) == '"' or "/" in match.group(2):
            yield line, f"the public header includes {match.group(2)}"
    if text.count("\n") > LINES_MAX:
        yield LINES_MAX, f"more than {LINES_MAX} lines"
    for match in LATER.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, f"{match.group()}: nothing is left for later"
    code = COMMENT_OR_TEXT.sub(blank, INCLUDE.sub("", text))
    for called, line in calls(code, banned_calls(room, name)):
        yield line, f"calls {called}"


def faults(root):
    for path in sorted(list(root.glob("src/**/*.[ch]")) + list(root.glob("include/**/*.h"))):
        parts = path.relative_to(root).parts
        room = parts[1] if parts[0] == "src" and len(parts) > 2 else None
        if parts == ("src", "main.c"):
            room = "cli"
        if parts[0] == "src" and room not in FLOORS:
            yield f"{path.relative_to(root)}: stands in no room"
            continue
        for line, fault in file_faults(room, path.name, path.read_text()):
            yield f"{path.relative_to(root)}:{line}: {fault}"


# (file, text, words of the fault that must be found; "" where there is none)
SAMPLES = [
    ("src/core/a.c", '#include "base/bytes.h"\n#include <laju/laju.h>\n', ""),
    ("src/table/a.c", '#include <string.h>\n#include "core/decide.h"\n/* strcpy(a, b) is never called */\n', ""),
    ("src/server/a.c", '#include <uv.h>\n#include "proto/codec.h"\nvoid f(void) { fprintf(stderr, "atoi("); }\n', ""),
    ("src/config/a.c", "#include <sys/un.h>\n#include <arpa/inet.h>\n", ""),
    ("src/redis/a.c", '#include <hiredis/hiredis.h>\n#include "core/decide.h"\n', ""),
    ("src/redis/a.c", '#include "table/table.h"\n', "redis (floor 2) includes table/table.h"),
    ("src/base/log.c", "void f(void) { fputs(\"x\", stderr); }\n", ""),
    ("src/base/a.c", '#include "core/rule.h"\n', "base (floor 0) includes core/rule.h"),
    ("src/base/a.h", "#include <laju/laju.h>\n", "base knows no rules"),
    ("src/config/a.c", '#include "limiter/limiter.h"\n', "config (floor 2) includes limiter/limiter.h"),
    ("src/config/a.c", "#include <sys/socket.h>\n", "config knows no sockets"),
    ("src/base/a.c", "void f(void) { fputs(\"x\", stderr); }\n", "calls fputs"),
    ("src/proto/a.c", "#include <uv.h>\n", "proto knows no sockets"),
    ("src/proto/a.c", "#include <sys/socket.h>\n", "proto knows no sockets"),
    ("src/proto/a.c", "#include <unistd.h>\n", "proto does no input or output"),
    ("src/proto/a.c", '#include "server/worker.h"\n', "proto (floor 4) includes server/worker.h"),
    ("src/core/a.c", "#include <string.h>\n", "core is freestanding"),
    ("src/core/a.c", "#include <time.h>\n", "core is freestanding"),
    ("src/core/a.c", "int f(void) { return time(0); }\n", "calls time"),
    ("src/core/a.c", "void *f(void) { return malloc(1); }\n", "calls malloc"),
    ("src/table/a.c", '\nint f(void) {\n  printf("x");\n}\n', "src/table/a.c:3: calls printf"),
    ("src/cli/a.c", "char *f(char *a) { return strcpy(a, a); }\n", "calls strcpy"),
    ("src/cli/a.c", "/* TODO: the rest */\n", "nothing is left for later"),
    ("src/server/a.c", '#include "worker.h"\n', "names no room"),
    ("src/server/a.c", "\n" * 601, "more than 600 lines"),
    ("src/attic/a.c", "\n", "stands in no room"),
    ("include/laju/laju.h", '#include "core/rule.h"\n', "the public header includes"),
]


def self_test():
    for name, text, wanted in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            found = list(faults(pathlib.Path(folder)))
        right = any(wanted in fault for fault in found) if wanted else not found
        if not right:
            sys.exit(f"floors: {name} with {text!r}: wanted {wanted or 'no fault'!r}, found {found}")
    print(f"floors: {len(SAMPLES)} samples judged rightly")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    found = list(faults(root))
    print("\n".join(found) if found else "floors: every include stands below its floor, and nothing banned is called")
    sys.exit(1 if found else 0)


main(sys.argv[1:])
