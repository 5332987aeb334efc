#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""Checks what is packaged for others than Debian (Kubernetes, containers and RPM), and how the
service is described.

usage: check_manifests.py [BUILD_DIRECTORY]

Needs the npm registry once, for schemas and a linter; they are kept in BUILD_DIRECTORY/manifests.
The last line is `N passed, N failed, N skipped`.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = (pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build").absolute()
MODULES = BUILD / "manifests/kubernetes"
KUBERNETES = ROOT / "packaging/kubernetes"
CONTAINER = ROOT / "packaging/container"
SPEC = ROOT / "packaging/rpm/wardcase.spec"
# Where Fedora's own macros put things.
FEDORA = {
    "_unitdir": "/usr/lib/systemd/system", "_userunitdir": "/usr/lib/systemd/user",
    "_sysusersdir": "/usr/lib/sysusers.d", "_tmpfilesdir": "/usr/lib/tmpfiles.d",
}
NOBODY = 65534
PATIENCE_SECONDS = 60


def run(*command, **options):
    done = subprocess.run(
        list(map(str, command)), check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, **options,
    )
    return done.returncode, done.stdout


def must(*command, **options):
    status, said = run(*command, **options)
    assert status == 0, f"{' '.join(map(str, command))[:200]}: status {status}\n{said}"
    return said


def documents():
    import yaml  # Debian's python3-yaml

    return list(yaml.safe_load_all((KUBERNETES / "wardcase.yaml").read_text()))


def of_kind(kind):
    (found,) = (document for document in documents() if document["kind"] == kind)
    return found


def install_node_modules(of="kubernetes"):
    """By the lock file alone, and once for each. Returns where."""
    modules = BUILD / "manifests" / of
    lock = (HERE / of / "package-lock.json").read_text()
    stamp = modules / "installed"
    if stamp.exists() and stamp.read_text() == lock:
        return modules
    shutil.rmtree(modules, ignore_errors=True)
    modules.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / of / name, modules)
    must("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=modules)
    stamp.write_text(lock)
    return modules


# The cases.


def manifests_are_what_the_api_of_kubernetes_takes():
    install_node_modules()
    must("node", HERE / "kubernetes/check.js", *sorted(KUBERNETES.glob("*.yaml")), cwd=MODULES)


def the_description_of_the_service_is_openapi():
    modules = install_node_modules("openapi")
    config = HERE / "openapi/redocly.yaml"
    redocly = ("node", modules / "node_modules/.bin/redocly", "lint", "--config", config)
    must(*redocly, ROOT / "supervisor/server/openapi.json", cwd=modules)


def a_pod_ends_later_than_its_longest_run():
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name) / "wardcase"
        place.mkdir()
        (place / "wardcase.toml").write_text(of_kind("ConfigMap")["data"]["wardcase.toml"])
        shown = must(BUILD / "wardcase", "config", "show", cwd=name, env={**os.environ, "XDG_CONFIG_HOME": name})
    longest = re.search(r'^\[limits\.max\]\n(?:.+\n)*?timeout = "(\d+)(s|m)"', shown, re.MULTILINE)
    grace = re.search(r'^grace = "(\d+)s"', shown, re.MULTILINE)
    seconds = int(longest[1]) * {"s": 1, "m": 60}[longest[2]] + int(grace[1])
    assert seconds == 122, shown
    assert of_kind("Deployment")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] > seconds


def selectors_name_the_pods_that_there_are():
    labels = of_kind("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert of_kind("Deployment")["spec"]["selector"]["matchLabels"] == labels
    assert of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    assert of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == labels


def the_recipe_of_the_image_is_right():
    install_node_modules()
    recipe = CONTAINER / "Containerfile"
    command = ("node", MODULES / "node_modules/.bin/dockerfile-utils", "lint")
    said = must(*command, recipe)
    assert not said.strip(), said
    with tempfile.TemporaryDirectory() as name:
        spoiled = pathlib.Path(name) / "Containerfile"
        spoiled.write_text(recipe.read_text().replace("HEALTHCHECK --interval", "HEALTHCHECK --intervall"))
        status, said = run(*command, spoiled)
        assert status != 0 or said.strip(), "a flag that there is not is not seen"


def the_image_and_the_pod_run_as_one_ordinary_user():
    recipe = (CONTAINER / "Containerfile").read_text()
    (user,) = re.findall(r"^USER (\d+):\d+$", recipe, re.MULTILINE)
    pod = of_kind("Deployment")["spec"]["template"]["spec"]
    assert int(user) == pod["securityContext"]["runAsUser"] != 0
    (command,) = re.findall(r"^CMD (\[.*\])$", recipe, re.MULTILINE)
    assert pod["containers"][0]["args"] == json.loads(command)


def the_image_is_built_with_what_the_debian_package_is():
    control = (ROOT / "packaging/debian/control").read_text()
    needed = set(re.findall(r"^ (lib[a-z0-9.-]+),$", control, re.MULTILINE))
    built = (CONTAINER / "Containerfile").read_text().split("WORKDIR")[0]
    assert needed and needed == set(re.findall(r"^ +(lib\S+) \\$", built, re.MULTILINE))


def the_seccomp_profile_is_the_one_that_is_made():
    assert (CONTAINER / "wardcase-seccomp.json").read_text() == must(CONTAINER / "make-seccomp-profile")


@contextlib.contextmanager
def container():
    """A directory of an ordinary user with what the image has, and the command to be him in it."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        place.chmod(0o755)
        for source in ("wardcase", "wardcase-server"):
            shutil.copy(BUILD / source, place)
        shutil.copy(CONTAINER / "wardcase-seccomp.json", place)
        shutil.copy(HERE / "under_profile.py", place)
        runtime = place / "run"
        runtime.mkdir(mode=0o700)
        for directory in (place, runtime):
            os.chown(directory, NOBODY, NOBODY)
        yield place, [
            "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs",
            "env", "-i", f"PATH={os.environ['PATH']}", f"XDG_RUNTIME_DIR={runtime}",
            str(place / "under_profile.py"), str(place / "wardcase-seccomp.json"),
        ]


def under_profile(*arguments):
    with container() as (place, command):
        words = [place / word if word == "wardcase" else word for word in arguments]
        return run(*command, *words, cwd="/")


def ask(path, request):
    """The status of the answer to a GET over a Unix socket."""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect(str(path))
        connection.sendall(f"GET {request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return int(connection.makefile("rb").readline().split()[1])


def probes_of_the_pod():
    """What the kubelet asks the service for."""
    wardcase = of_kind("Deployment")["spec"]["template"]["spec"]["containers"][0]
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        *_, url = wardcase[name]["exec"]["command"]
        yield url.removeprefix("http://localhost")


def the_service_answers_its_probes_under_the_seccomp_profile():
    probes = set(probes_of_the_pod())
    assert probes == {"/livez", "/readyz"}
    with container() as (place, command):
        path = place / "api.sock"
        with subprocess.Popen([*command, place / "wardcase", "serve", "--listen", f"unix:{path}"], cwd="/") as service:
            try:
                deadline = time.monotonic() + PATIENCE_SECONDS
                while not path.exists() and service.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.05)
                for probe in sorted(probes):
                    assert ask(path, probe) == 200, probe
                service.terminate()
                assert service.wait(PATIENCE_SECONDS) == 0
            finally:
                service.kill()


def wardcase_runs_under_the_seccomp_profile():
    status, said = under_profile("wardcase", "run", "-l", "python", "-c", "print(6*7)")
    assert (status, said) == (0, "42\n"), said


def without_the_rule_that_makes_the_difference_it_does_not():
    profile = json.loads((CONTAINER / "wardcase-seccomp.json").read_text())
    (rule,) = (rule for rule in profile["syscalls"] if "comment" in rule)
    status, said = under_profile("--without", ",".join(rule["names"]), "wardcase", "run", "--", "true")
    assert status == 125, f"status {status}\n{said}"


def the_profile_refuses_what_nobody_in_the_container_needs():
    status, said = under_profile(sys.executable, "-c", """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for number in (175, 246, 250, 321, 298):  # init_module kexec_load keyctl bpf perf_event_open
    ctypes.set_errno(0)
    assert libc.syscall(number, -1, 0, 0, 0, 0) == -1 and ctypes.get_errno() == errno.EPERM, number
assert libc.syscall(1000, 0) == -1 and ctypes.get_errno() == errno.ENOSYS
assert libc.personality(ctypes.c_ulong(0x40000)) == -1  # ADDR_NO_RANDOMIZE
assert libc.personality(ctypes.c_ulong(0xffffffff)) != -1
""")
    assert status == 0, said


def expanded_spec():
    defined = [word for name, value in FEDORA.items() for word in ("--define", f"{name} {value}")]
    return must("rpmspec", *defined, "-P", SPEC)


def the_rpm_spec_is_right():
    expanded_spec()
    said = must("rpmlint", "-c", SPEC.with_suffix(".rpmlintrc.toml"), SPEC)
    assert " 0 errors, 0 warnings" in said, said


def the_rpms_take_exactly_what_is_installed():
    listed = expanded_spec().split("\n%files", 1)[1]
    files = {line for line in listed.splitlines() if line.startswith("/usr/")}
    assert len(files) > 15, files
    patterns = [re.compile(re.escape(name).replace(r"\*", "[^/]*") + "(/.*)?$") for name in files]
    with tempfile.TemporaryDirectory() as name:
        must("make", "-s", "install", f"DESTDIR={name}", "PREFIX=/usr", cwd=ROOT)
        installed = ["/" + str(path.relative_to(name)) for path in pathlib.Path(name).rglob("*") if path.is_file()]
    for path in installed:
        assert any(pattern.match(path) for pattern in patterns), f"{path} is in no package"
    for pattern in patterns:
        assert any(pattern.match(path) for path in installed), f"{pattern.pattern} is not installed"


def all_packages_have_the_version_of_the_program():
    version = must(BUILD / "wardcase", "version").split()[1]
    changelog = (ROOT / "packaging/debian/changelog").read_text()
    assert changelog.startswith(f"wardcase ({version}-")
    assert re.search(rf"^Version: +{re.escape(version)}$", SPEC.read_text(), re.MULTILINE)
    pod = of_kind("Deployment")["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == f"wardcase:{version}"


CASES = (
    manifests_are_what_the_api_of_kubernetes_takes,
    the_description_of_the_service_is_openapi,
    a_pod_ends_later_than_its_longest_run,
    selectors_name_the_pods_that_there_are,
    the_recipe_of_the_image_is_right,
    the_image_and_the_pod_run_as_one_ordinary_user,
    the_image_is_built_with_what_the_debian_package_is,
    the_seccomp_profile_is_the_one_that_is_made,
    wardcase_runs_under_the_seccomp_profile,
    the_service_answers_its_probes_under_the_seccomp_profile,
    without_the_rule_that_makes_the_difference_it_does_not,
    the_profile_refuses_what_nobody_in_the_container_needs,
    the_rpm_spec_is_right,
    the_rpms_take_exactly_what_is_installed,
    all_packages_have_the_version_of_the_program,
)


def main():
    failed = 0
    for case in CASES:
        try:
            case()
        except Exception:  # the cases after it still have something to tell
            traceback.print_exc(file=sys.stdout)
            failed += 1
            print(f"failed: {case.__name__.replace('_', ' ')}")
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
