#!/bin/bash
# Builds the Debian packages and the image, and lives through their lives: installed, started, upgraded, removed, purged.
#
#   tests/package/run.sh
#
# The packages are installed into a copy of this machine that is thrown away (an overlay in a mount namespace), so the machine
# itself stays as it is. That takes root.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
skip() {
  echo "SKIP: $*"
  [[ ${CI:-} == true ]] && exit 1
  exit 77
}
((EUID == 0)) || skip "an overlay of this machine takes root"
for tool in systemd-analyze buildah curl dpkg-buildpackage; do
  command -v "$tool" >/dev/null || skip "no $tool here (script/bootstrap --tests installs it)"
done

# ---- inside the copy: the package's life --------------------------------------------------------------------------------

port=18980

start() {
  /usr/bin/laju serve --config /etc/laju/laju.yaml --http "127.0.0.1:$port" --resp off --admin off 2>/tmp/laju.log &
  laju=$!
  for _ in $(seq 100); do
    if curl -fs -o /dev/null "127.0.0.1:$port/readyz"; then return; fi
    sleep 0.1
  done
  cat /tmp/laju.log
  fail "the installed laju does not start"
}

stop() {
  kill "$laju"
  wait "$laju" || fail "laju did not end well"
}

remaining() {
  curl -fs "127.0.0.1:$port/v1/check" -d '{"rule":"default","key":"guest"}' | sed 's/.*"remaining":\([0-9]*\).*/\1/'
}

installed_files() {
  find / -xdev -name '*laju*' -not -path '/packages/*' -not -path '/tmp/*' -not -path '/proc/*' -not -path '/var/log/*' -not -path '/var/cache/man/*' | sort
}

if [[ ${1:-} == --inside ]]; then
  files_before=$(installed_files)
  dpkg --install /packages/laju_"$2"_*.deb
  systemd-analyze verify /lib/systemd/system/laju.service /lib/systemd/system/laju-{http,resp,admin}.socket
  exposure=$(systemd-analyze security --offline=true /lib/systemd/system/laju.service | sed -n 's/.*level for .*: \([0-9.]*\) .*/\1/p')
  [[ $(echo "$exposure < 2.0" | bc) == 1 ]] || fail "the unit is exposed: $exposure"
  mkdir -p /var/lib/laju # systemd makes it; here we are started by hand
  /usr/bin/laju config check /etc/laju/laju.yaml
  start
  [[ $(remaining) == 99 && $(remaining) == 98 ]] || fail "a fresh package does not count from its limit down"
  stop
  echo "# mine" >>/etc/laju/laju.yaml
  dpkg --install /packages/laju_"$3"_*.deb
  [[ $(dpkg-query -W -f '${Version}' laju) == "$3" ]] || fail "the upgrade did not come"
  grep -q '# mine' /etc/laju/laju.yaml || fail "the upgrade lost the operator's configuration"
  start
  [[ $(remaining) == 97 ]] || fail "the upgrade forgot what was counted"
  stop
  dpkg --remove laju
  [[ -e /etc/laju/laju.yaml && -e /var/lib/laju/laju.snapshot ]] || fail "removing took the configuration or the state"
  [[ ! -e /usr/bin/laju ]] || fail "removing left the program"
  dpkg --purge laju
  [[ $(installed_files) == "$files_before" ]] || fail "purging left: $(diff <(echo "$files_before") <(installed_files))"
  echo "installed, started, upgraded, removed and purged"
  exit
fi

# ---- outside ------------------------------------------------------------------------------------------------------------

work=$(mktemp -d)
end() {
  mountpoint -q "$work" && umount "$work"
  rmdir "$work"
}
trap end EXIT
mount -t tmpfs -o size=2g laju-test "$work"
mkdir "$work"/{upper,work,root,packages,next,storage}

rm -f build/package/*.deb
script/package deb >"$work/log" 2>&1 || { cat "$work/log" && fail "the packages do not build"; }
cp build/package/laju_*.deb "$work/packages/"
version=$(dpkg-deb --field "$work"/packages/laju_*.deb Version)

# A later version of it, of the same contents.
dpkg-deb --raw-extract "$work"/packages/laju_*.deb "$work/next"
sed -i "s/^Version: .*/Version: $version+1/" "$work/next/DEBIAN/control"
dpkg-deb --build --root-owner-group "$work/next" "$work/packages/laju_$version+1_next.deb" >/dev/null

cp "$0" "$work/packages/run.sh"
unshare --mount bash -euc '
  mount -t overlay laju-test -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
  mount --bind "$0/packages" "$(mkdir -p "$0/root/packages" && echo "$0/root/packages")"
  mount -t proc proc "$0/root/proc"
  mount --bind /dev "$0/root/dev"
  cd "$0/root"
  mkdir -p tmp/tests/package && cp packages/run.sh tmp/tests/package/
  CI=${CI:-} chroot . /bin/bash /tmp/tests/package/run.sh --inside "$1" "$1+1"
' "$work" "$version"

# The libraries' packages hold what a program needs to be built.
contents=$(dpkg-deb --contents build/package/liblaju-dev_*.deb)
for file in include/laju/laju.h liblaju.a liblaju.so pkgconfig/laju.pc; do
  grep -q "$file" <<<"$contents" || fail "liblaju-dev lacks $file"
done

# The image: built, and what is in it runs as it would there.
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot CONTAINERS_STORAGE_CONF=$work/storage.conf
printf '[storage]\ndriver="vfs"\nrunroot="%s"\ngraphroot="%s"\n' "$work/storage/run" "$work/storage/graph" >"$work/storage.conf"
script/package image >"$work/log" 2>&1 || { cat "$work/log" && fail "the image does not build"; }
container=$(buildah from "laju:$version")
root=$(buildah mount "$container")
chroot --userspec=65532:65532 "$root" /usr/bin/laju version | grep -q "$version" || fail "the image's laju does not run"
chroot --userspec=65532:65532 "$root" /usr/bin/laju config check /etc/laju/laju.yaml || fail "the image's configuration is bad"
[[ $(buildah inspect --format '{{.OCIv1.Config.User}}' "$container") == 65532:65532 ]] || fail "the image runs as root"
buildah rm "$container" >/dev/null
echo "the image builds and runs"
