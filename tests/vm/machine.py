# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""A small Debian guest with systemd as process 1 and control groups of version 2.

image() builds it once and keeps it; boot() runs a directory's ./run in it as root and
returns what that left. Two engines: User-Mode Linux, which boots in seconds, and qemu with
software emulation, which is slow and has what the other lacks (Landlock, several
processors, address space for sanitizers). In the guest $VM_ENGINE says which it is, the
directory is /srv, and what is put in $VM_OUT comes back.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "bookworm"
IMAGE_MEGABYTES = 2500  # sparse
RESULT_MEGABYTES = 256
ENGINES = ("uml", "qemu")
# In this order, for the disks of qemu's modular kernel.
QEMU_MODULES = (
    "virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_mmio virtio_blk".split()
)
GUEST_MODULES = "fs/overlayfs fs/fuse drivers/net/veth.ko drivers/net/dummy.ko lib crypto".split()
MKE2FS = "mke2fs -q -t ext4 -O ^has_journal,^resize_inode -m 0 -E lazy_itable_init=1,nodiscard".split()


class Failed(Exception):
    """The guest could not be built or booted."""


def run(*command, **options):
    """Runs quietly; what it said is in the error."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options
    )
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace")[-3000:]
        raise Failed(f"{' '.join(map(str, command))[:200]}: status {done.returncode}\n{said}")
    return done.stdout.decode(errors="replace")


def listed(name):
    lines = (HERE / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def cache_directory():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "wardcase-vm"


def image_key():
    parts = [HERE / "machine.py", HERE / "guest.packages", HERE / "guest.masked"]
    parts += sorted(path for path in (HERE / "guest").rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in parts:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"{SUITE}-{digest.hexdigest()[:12]}"


# The image


def unpack_package(package, work):
    """Downloads a package, does not install it, and returns its files."""
    directory = work / package
    directory.mkdir()
    run("apt-get", "-q", "download", package, cwd=directory)
    (archive,) = directory.glob("*.deb")
    run("dpkg", "-x", archive, directory / "files")
    return directory / "files"


def newest_cloud_kernel():
    for line in run("apt-cache", "depends", "linux-image-cloud-amd64").splitlines():
        if line.strip().startswith("Depends: linux-image-"):
            return line.split()[-1]
    raise Failed("apt knows no linux-image-cloud-amd64")


def add_modules(root, tree, version):
    target = root / "lib/modules" / version
    (target / "kernel").mkdir(parents=True)
    for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        shutil.copy(tree / name, target / name)
    for name in GUEST_MODULES:
        source = tree / "kernel" / name
        if source.is_dir():
            shutil.copytree(source, target / "kernel" / name)
        elif source.exists():
            (target / "kernel" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / "kernel" / name)
    run("chroot", root, "depmod", version)


def configure(root):
    shutil.copytree(HERE / "guest", root, symlinks=True, dirs_exist_ok=True)
    (root / "etc/hostname").write_text("guest\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost guest\n")
    (root / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    (root / "etc/fstab").write_text("")
    run("chroot", root, "useradd", "-m", "-u", "1000", "-s", "/bin/bash", "tester")
    linger = root / "var/lib/systemd/linger"
    linger.mkdir(parents=True, exist_ok=True)
    (linger / "tester").write_text("")
    for unit in listed("guest.masked"):
        (root / "etc/systemd/system" / unit).symlink_to("/dev/null")
    for timer in (root / "etc/systemd/system/timers.target.wants").glob("*"):
        timer.unlink()


def build_initrd(work, busybox, modules):
    tree = work / "initrd"
    for name in ("bin", "dev", "proc", "new", "m"):
        (tree / name).mkdir(parents=True)
    shutil.copy(busybox / "bin/busybox", tree / "bin/busybox")
    for module in QEMU_MODULES:
        (source,) = modules.rglob(f"{module}.ko")
        shutil.copy(source, tree / "m")
    init = tree / "init"
    init.write_text(
        "#!/bin/busybox sh\n"
        f"for m in {' '.join(QEMU_MODULES)}; do /bin/busybox insmod /m/$m.ko; done\n"
        "/bin/busybox mount -t devtmpfs dev /dev\n"
        "n=0; while [ ! -b /dev/vda ] && [ $n -lt 100 ]; do /bin/busybox sleep 0.1; n=$((n+1)); done\n"
        "/bin/busybox mount -t ext4 -o noatime /dev/vda /new\n"
        "/bin/busybox mount -o move /dev /new/dev\n"
        "exec /bin/busybox switch_root /new /lib/systemd/systemd\n"
    )
    init.chmod(0o755)
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*"))) + "\n"
    packed = subprocess.run(
        [busybox / "bin/busybox", "cpio", "-o", "-H", "newc"],
        input=names.encode(), cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
    )
    return packed.stdout


def build(work):
    root, out = work / "root", work / "out"
    out.mkdir()
    run(
        "mmdebstrap", "--quiet", "--variant=minbase", "--format=directory",
        "--include=" + ",".join(listed("guest.packages")),
        "--aptopt=Acquire::Languages \"none\"",
        *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("man", "doc", "locale", "info")),
        SUITE, root,
    )
    kernel = newest_cloud_kernel()
    version = kernel.removeprefix("linux-image-")
    cloud, uml = unpack_package(kernel, work), unpack_package("user-mode-linux", work)
    busybox = unpack_package("busybox-static", work)
    add_modules(root, cloud / "lib/modules" / version, version)
    (uml_modules,) = (uml / "usr/lib/uml/modules").iterdir()
    add_modules(root, uml_modules, uml_modules.name)
    configure(root)
    (out / "initrd").write_bytes(build_initrd(work, busybox, cloud / "lib/modules" / version))
    shutil.copy(cloud / f"boot/vmlinuz-{version}", out / "vmlinuz")
    shutil.copy(uml / "usr/bin/linux.uml", out / "linux.uml")
    run(*MKE2FS, "-N", "98304", "-d", root, out / "root.img", f"{IMAGE_MEGABYTES}M")
    return out


def image():
    """The directory of the image, which is built if need be. Needs root, as mmdebstrap does."""
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    finished = cache / image_key()
    with open(cache / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            print(f"vm: building the guest, once: {finished}", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix="build.") as work:
                build(pathlib.Path(work)).rename(finished)
            for old in sorted(cache.glob(f"{SUITE}-*"), key=os.path.getmtime)[:-2]:
                shutil.rmtree(old)
    return finished


# One boot


def engine_command(engine, files, work, limit):
    kernel = (
        "loglevel=3 systemd.show_status=false panic=-1 cgroup_no_v1=all systemd.unified_cgroup_hierarchy=1 "
        f"fsck.mode=skip systemd.firstboot=off wardcase_vm.limit={limit}"
    )
    if engine == "uml":
        return [
            files / "linux.uml", "mem=1536M", f"ubd0={work}/cow,{files}/root.img", f"ubd1={work}/brought.img",
            f"ubd2={work}/results.img", "root=/dev/ubda", "rw", "init=/lib/systemd/systemd", "con=null", "ssl=null",
            "con0=null,fd:1", "umid=guest", f"uml_dir={work}", "security=apparmor", *kernel.split(),
        ]
    command = (
        "qemu-system-x86_64 -M q35 -accel tcg,thread=multi,tb-size=512 -cpu max -smp 2 -m 1536 "
        "-nodefaults -no-user-config -display none -no-reboot -serial stdio"
    ).split()
    command += ["-kernel", files / "vmlinuz", "-initrd", files / "initrd"]
    more = "console=ttyS0 audit=0 mitigations=off nokaslr tsc=reliable random.trust_cpu=on"
    command += ["-append", f"{more} {kernel}"]
    disks = ((files / "root.img", "on"), (work / "brought.img", "on"), (work / "results.img", "off"))
    for number, (path, snapshot) in enumerate(disks):
        command += [
            "-drive", f"if=none,id=d{number},file={path},format=raw,cache=unsafe,snapshot={snapshot}",
            "-device", f"virtio-blk-pci,drive=d{number}",
        ]
    return command


def show(console):
    """Prints what `run` prints; all else on the console is the kernel's and systemd's."""
    for line in console:
        if b"\x1e" in line:
            sys.stdout.buffer.write(line.rsplit(b"\x1e", 1)[1].rstrip(b"\r\n") + b"\n")
            sys.stdout.buffer.flush()


def left_behind(group):
    """Processes of that process group: zombies that nobody waits for don't count."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(entry.name))
    return found


running = set()  # process groups of engines


def end_engines():
    """For who is interrupted while a guest runs in another thread."""
    for group in list(running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def run_engine(command, limit, log):
    """Boots and waits; the engine's whole process group is ended after that."""
    with open(log, "wb") as errors, subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
    ) as engine:
        reader = threading.Thread(target=show, args=(engine.stdout,))
        reader.start()
        running.add(engine.pid)
        try:
            engine.wait(limit)
        except subprocess.TimeoutExpired:
            print(f"vm: the guest did not end within {limit} s", file=sys.stderr)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(engine.pid, signal.SIGKILL)
            running.discard(engine.pid)
            engine.wait()
            reader.join()
    if left := left_behind(engine.pid):
        raise Failed(f"processes of the engine are left: {left}")


def boot(engine, directory, results, limit):
    """Runs `directory`/run in a guest; `results` gets what it left, with files `status`
    and `journal`. Returns run's exit status. Raises Failed where none came back."""
    files = image()
    with tempfile.TemporaryDirectory(prefix="wardcase-vm.") as name:
        work = pathlib.Path(name)
        megabytes = int(run("du", "-sm", directory).split()[0]) * 5 // 4 + 64
        run(*MKE2FS, "-d", directory, work / "brought.img", f"{megabytes}M")
        with open(work / "results.img", "wb") as disk:
            disk.truncate(RESULT_MEGABYTES << 20)
        run_engine(engine_command(engine, files, work, limit), limit, work / "engine.log")
        try:
            with tarfile.open(work / "results.img") as archive:
                archive.extractall(results)
            return int((pathlib.Path(results) / "status").read_text())
        except (tarfile.TarError, OSError, ValueError):
            said = (work / "engine.log").read_text(errors="replace")[-2000:]
            raise Failed(f"{engine}: the guest gave no result\n{said}") from None
