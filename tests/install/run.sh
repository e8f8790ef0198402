#!/bin/sh
# run.sh ROOT BUILD CC: does what examples/c/README.md says (install BUILD to a prefix, build the example against what stands
# there by pkg-config, run it), with the shared and the static library, and checks with curl that its limit holds.
set -eu
root=$1 build=$2 CC=$3
for tool in curl make pkg-config; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIP: no $tool here (script/bootstrap --tests installs it)"
    exit 77
  fi
done
work=$(mktemp -d)
server=
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT

# The page's commands: from the installation on, with this build, a home of our own, and a copy of the example.
mkdir "$work/examples"
cp -r "$root/examples/c" "$work/examples/c"
rm -f "$work/examples/c/greeter"
page() {
  awk '/^```/ { fence++; next } fence == 1' "$root/examples/c/README.md"
}
HOME=$work
export HOME CC
page | sed -n '/^cmake --install/,/^make/p' | sed "s|build/release|$build|" >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 3 ]
cd "$work"
. "$work/commands" >"$work/said"
prefix=$work/laju

for file in bin/laju include/laju/laju.h lib/liblaju.so lib/liblaju.so.0 lib/liblaju.a lib/pkgconfig/laju.pc \
  share/man/man1/laju.1; do
  [ -e "$prefix/$file" ] || { echo "not installed: $file" && exit 1; }
done
ldd examples/c/greeter | grep -q "$prefix/lib/liblaju.so.0"
"$prefix/bin/laju" version | grep -q "$(pkg-config --modversion laju)"

# The header stands alone, in old C and in C++.
printf '#include <laju/laju.h>\n' >alone.c
"$CC" -std=c99 -pedantic -Wall -Wextra -Werror $(pkg-config --cflags laju) -fsyntax-only alone.c
if command -v clang++ >/dev/null; then
  clang++ -std=c++11 -Wall -Wextra -Werror $(pkg-config --cflags laju) -fsyntax-only -x c++ alone.c
fi

ask() {
  curl -sS -o body -D head -w '%{http_code}\n' --max-time 10 -H "X-Api-Key: $1" "$url"
}

# The page's last command, on a port that is free: three a minute and no more.
expect_limit() {
  page | tail -n 1 | sed 's/ 8000 / 0 /; s/^/exec /' >serve
  : >said # what the one before said is no sign
  sh ./serve >>said &
  server=$!
  tries=0
  until grep -q listening said; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "the example does not start" && exit 1; }
    sleep 0.1
  done
  url=$(sed -n 's|listening on |http://|p' said)/
  [ "$(ask ada)$(ask ada)$(ask ada)" = 200200200 ]
  [ "$(ask ada)" = 429 ]
  wait_s=$(sed -n 's/^Retry-After: \([0-9]*\).*/\1/p' head)
  [ "$wait_s" -ge 1 ] # a token comes back in 20 s, less what the test itself took
  [ "$wait_s" -le 20 ]
  [ "$(ask grace)" = 200 ]
  kill "$server"
  wait "$server"
  server=
}

expect_limit
"$CC" -O2 $(pkg-config --cflags laju) examples/c/greeter.c "$prefix/lib/liblaju.a" -pthread -o examples/c/greeter
expect_limit
echo "installed, built shared and static, and the limit holds"
