#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""What becomes of a host that installs, upgrades, removes and purges the Debian packages.

Runs in a guest, as root, in /srv with first/*.deb, next/*.deb and the packages' own tests/.
The cases follow upon each other: each finds the host as the one before left it.
"""

import contextlib
import json
import os
import pathlib
import pwd
import re
import socket
import subprocess
import sys
import threading
import time
import traceback

SOCKET = "/run/wardcase/api.sock"
PROFILE = pathlib.Path("/etc/apparmor.d/wardcase")
SHIPPED_PROFILE = pathlib.Path("/usr/share/wardcase/apparmor/wardcase")
# What dpkg, systemd and useradd keep for themselves.
NOT_OURS = re.compile(
    r"/(proc|sys|dev|run|tmp|srv|var/(lib/dpkg|log|cache/(apt|debconf|ldconfig|apparmor)|tmp)"
    r"|var/lib/(systemd|apparmor)|root|home)(/|$)"
    r"|/etc/((passwd|group|shadow|gshadow|subuid|subgid)-?|\.pwd\.lock|ld\.so\.cache)$"
)
before = {}


def run(*command, **options):
    done = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        **options,
    )
    return done.returncode, done.stdout


def must(*command, **options):
    status, said = run(*command, **options)
    assert status == 0, f"{' '.join(map(str, command))}: status {status}\n{said}"
    return said


def debs(place):
    return [str(path) for path in sorted(pathlib.Path(place).glob("*.deb"))]


def show(unit, field):
    return must("systemctl", "show", "-P", field, unit).strip()


def all_paths():
    found = set()
    for directory, directories, files in os.walk("/"):
        directories[:] = [name for name in directories if not NOT_OURS.match(os.path.join(directory, name))]
        paths = (os.path.join(directory, name) for name in (*directories, *files))
        found |= {path for path in paths if not NOT_OURS.match(path)}
    return found


def ranges(kind, account=None):
    """(account, first, last) of /etc/subuid or /etc/subgid."""
    rows = [line.split(":") for line in pathlib.Path(f"/etc/sub{kind}").read_text().splitlines()]
    return [(who, int(a), int(a) + int(n) - 1) for who, a, n in rows if account in (None, who)]


def connect():
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.settimeout(60)
        connection.connect(SOCKET)


def is_refused():
    try:
        connect()
    except (FileNotFoundError, ConnectionRefusedError):
        return True
    return False


# The cases, in their order.


def the_packages_install():
    # The guest is built without manual pages; a host has them.
    pathlib.Path("/etc/dpkg/dpkg.cfg.d/99mmdebstrap").unlink(missing_ok=True)
    # Another account's range, where the first one would be looked for, and a gap that is too small.
    for kind in ("uid", "gid"):
        with open(f"/etc/sub{kind}", "a", encoding="ascii") as table:
            table.write("other:200000:65536\n")
    before["paths"] = all_paths()
    must("dpkg", "-i", *debs("first"))
    assert must("dpkg", "-V", "wardcase", "wardcased", "python3-wardcase") == ""


def an_ordinary_user_runs_a_program_right_after():
    must("tests/command", env={**os.environ, "AUTOPKGTEST_NORMAL_USER": "tester"})


def an_ordinary_users_run_has_a_control_group():
    said = must(
        "runuser", "-u", "tester", "--", "env", "XDG_RUNTIME_DIR=/run/user/1000", "wardcase", "run", "--json", "--",
        "true", cwd="/",
    )
    assert json.loads(said)["enforced_by"]["memory"] == "cgroup2", said


def the_first_connection_starts_the_service():
    must("tests/service")


def python_asks_the_service():
    program = f"import wardcase; print(wardcase.Client(host='unix:{SOCKET}').run('print(6 * 7)').stdout, end='')"
    assert must("/usr/bin/python3", "-B", "-c", program) == "42\n"


def the_tcp_socket_waits_for_who_wants_it():
    assert show("wardcased-tcp.socket", "ActiveState") == "inactive"
    assert run("systemctl", "is-enabled", "wardcased-tcp.socket")[1].strip() == "disabled"
    assert run("systemctl", "is-enabled", "wardcased.socket")[1].strip() == "enabled"


def the_account_has_ids_that_are_nobody_elses():
    for kind in ("uid", "gid"):
        ((_, first, last),) = ranges(kind, "wardcase")
        assert last - first + 1 == 65536
        for who, start, end in ranges(kind):
            assert who == "wardcase" or end < first or last < start, f"{who} {start}-{end} and {first}-{last}"
        for entry in pwd.getpwall():
            assert not first <= entry.pw_uid <= last, entry


def who_has_ids_keeps_them():
    kept = {kind: ranges(kind) for kind in ("uid", "gid")}
    must("/usr/libexec/wardcase/subordinate-ids", "wardcase")
    assert kept == {kind: ranges(kind) for kind in ("uid", "gid")}


def an_upgrade_keeps_the_socket_and_exchanges_the_service():
    connect()
    old = show("wardcased.service", "MainPID")
    assert old != "0", "the service does not run"
    ids = ranges("uid", "wardcase")
    failures, is_done = [], threading.Event()

    def keep_connecting():
        while not is_done.wait(0.02):
            try:
                connect()
            except OSError as error:
                failures.append(error)

    asking = threading.Thread(target=keep_connecting)
    asking.start()
    try:
        must("dpkg", "-i", *debs("next"))
    finally:
        is_done.set()
        asking.join()
    assert not failures, f"{len(failures)} times {failures[0]!r}"
    assert "+next" in must("dpkg-query", "-W", "wardcased")
    assert show("wardcased.service", "MainPID") not in (old, "0")
    assert ranges("uid", "wardcase") == ids
    must("tests/service")


def an_upgrade_leaves_a_stopped_service_alone():
    must("systemctl", "stop", "wardcased.service")
    must("dpkg", "-i", *debs("first"))
    assert show("wardcased.service", "ActiveState") == "inactive"
    assert show("wardcased.socket", "ActiveState") == "active"


def the_profile_stays_out_where_the_parser_does_not_know_it():
    assert run("apparmor_parser", "-QK", SHIPPED_PROFILE)[0] != 0, "this parser knows userns"
    assert not PROFILE.is_symlink() and not PROFILE.exists()


def the_rest_of_the_profile_is_one_that_parsers_know():
    text = SHIPPED_PROFILE.read_text()
    older = text.replace("  userns,\n", "").replace("abi <abi/4.0>,\n", "")
    assert older.count("\n") == text.count("\n") - 2
    for parsed, is_right in ((older, True), (older.replace("<local/wardcase>", "local/wardcase>"), False)):
        pathlib.Path("/tmp/profile").write_text(parsed)
        assert (run("apparmor_parser", "-QK", "/tmp/profile")[0] == 0) == is_right


def the_profile_is_placed_where_the_parser_knows_it():
    parser = pathlib.Path("/usr/local/sbin/apparmor_parser")
    parser.write_text("#!/bin/sh\necho \"$@\" >>/tmp/parsed\n")
    parser.chmod(0o755)
    try:
        must("/var/lib/dpkg/info/wardcase.postinst", "configure", "")
        assert PROFILE.resolve() == SHIPPED_PROFILE
        must("/var/lib/dpkg/info/wardcase.prerm", "remove")
        assert not PROFILE.is_symlink()
        # An administrator's own stays.
        PROFILE.write_text("# mine\n")
        must("/var/lib/dpkg/info/wardcase.postinst", "configure", "")
        must("/var/lib/dpkg/info/wardcase.prerm", "remove")
        assert PROFILE.read_text() == "# mine\n"
    finally:
        parser.unlink()
        PROFILE.unlink(missing_ok=True)


def who_removes_it_has_no_service_any_more():
    connect()
    must("dpkg", "-r", "python3-wardcase", "wardcased", "wardcase")
    assert is_refused()
    assert show("wardcased.service", "ActiveState") == "inactive"
    assert not [entry for entry in running_as("wardcase")]
    assert pathlib.Path("/var/lib/wardcase").is_dir(), "its state is for who installs it again"


def running_as(account):
    uid = pwd.getpwnam(account).pw_uid
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if entry.stat().st_uid == uid:
                yield (entry / "cmdline").read_bytes()


def who_installs_it_again_has_it_again():
    must("dpkg", "-i", *debs("first"))
    must("tests/service")


def a_purge_leaves_nothing():
    must("dpkg", "-P", "python3-wardcase", "wardcased", "wardcase")
    assert is_refused()
    left = sorted(all_paths() - before["paths"])
    assert not left, left
    # An empty one of these goes with the last unit that was in it.
    lost = sorted(path for path in before["paths"] - all_paths() if not path.endswith(".wants"))
    assert not lost, lost
    for path in ("/run/wardcase", "/run/wardcase-ids", "/var/lib/wardcase", "/var/cache/wardcase"):
        assert not os.path.exists(path), path
    for kind in ("uid", "gid"):
        assert not ranges(kind, "wardcase")
        assert ranges(kind, "other") == [("other", 200000, 265535)]
        assert ranges(kind, "tester")
    assert not re.search(r"^wardcased?[-.](?!vm)", must("systemctl", "list-unit-files", "--no-legend"), re.MULTILINE)
    assert not [entry for entry in running_as("wardcase")]


CASES = (
    the_packages_install,
    an_ordinary_user_runs_a_program_right_after,
    an_ordinary_users_run_has_a_control_group,
    the_first_connection_starts_the_service,
    python_asks_the_service,
    the_tcp_socket_waits_for_who_wants_it,
    the_account_has_ids_that_are_nobody_elses,
    who_has_ids_keeps_them,
    an_upgrade_keeps_the_socket_and_exchanges_the_service,
    an_upgrade_leaves_a_stopped_service_alone,
    the_profile_stays_out_where_the_parser_does_not_know_it,
    the_rest_of_the_profile_is_one_that_parsers_know,
    the_profile_is_placed_where_the_parser_knows_it,
    who_removes_it_has_no_service_any_more,
    who_installs_it_again_has_it_again,
    a_purge_leaves_nothing,
)


def main():
    failed = 0
    for case in CASES:
        start = time.monotonic()
        try:
            case()
            outcome = "passed"
        except Exception:  # the cases after it still have something to tell
            traceback.print_exc(file=sys.stdout)
            outcome, failed = "failed", failed + 1
        print(f"{outcome}: {case.__name__.replace('_', ' ')} ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped", flush=True)
    pathlib.Path(os.environ["VM_OUT"], "finished").touch()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
