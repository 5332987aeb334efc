#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# `make install` puts exactly these files below DESTDIR, and uninstall removes them.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [[ ! -x build/wardcase ]]; then
  echo 'build/wardcase is not built'
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make -s install DESTDIR="$scratch" PREFIX=/usr
diff - <(cd "$scratch" && find . -type f -printf '%m %P\n' | sort -k2) <<'END'
755 usr/bin/wardcase
644 usr/lib/systemd/system/wardcased-tcp.socket
644 usr/lib/systemd/system/wardcased.service
644 usr/lib/systemd/system/wardcased.socket
644 usr/lib/systemd/user/wardcase.service
644 usr/lib/systemd/user/wardcase.socket
644 usr/lib/sysusers.d/wardcase.conf
644 usr/lib/tmpfiles.d/wardcase.conf
755 usr/libexec/wardcase/subordinate-ids
755 usr/libexec/wardcase/wardcase-agent
755 usr/libexec/wardcase/wardcase-server
644 usr/share/bash-completion/completions/wardcase
644 usr/share/fish/vendor_completions.d/wardcase.fish
644 usr/share/man/man1/wardcase.1
644 usr/share/man/man5/wardcase-language.5
644 usr/share/man/man5/wardcase-policy.5
644 usr/share/man/man5/wardcase.toml.5
644 usr/share/man/man7/wardcase-security.7
644 usr/share/man/man8/wardcased.8
644 usr/share/wardcase/apparmor/wardcase
644 usr/share/zsh/site-functions/_wardcase
END
if grep -r -n '@[A-Z]*@' "$scratch/usr/lib"; then
  echo 'a unit still has a placeholder'
  exit 1
fi
# What units start is there.
while read -r program; do
  [[ -x $scratch$program ]] || { echo "a unit starts $program, which is not installed"; exit 1; }
done < <(grep -r -h -o -E '^Exec[A-Za-z]+=[-+@:!]*/[^ ]+' "$scratch/usr/lib/systemd" | grep -o '/.*')

# Directories that others have files in stay, too.
make -s uninstall DESTDIR="$scratch" PREFIX=/usr
left=$(find "$scratch" -type f -o -name '*wardcase*')
if [[ -n $left ]]; then
  printf 'left behind by uninstall:\n%s\n' "$left"
  exit 1
fi
