"""Set up the libtorch that the trainer links, from the wheels of PyTorch.

The wheel of torch carries the complete C++ library. Of it and of the two CUDA
wheels that the library loads even without a GPU, only what the trainer needs is
kept: half a gigabyte instead of the 4.7 GB of an installed PyTorch.

    python python/tools/libtorch.py setup .libtorch    download and unpack
    python python/tools/libtorch.py check FOLDER       is FOLDER the right libtorch?
    python python/tools/libtorch.py setup-python       install all of PyTorch instead
    python python/tools/libtorch.py check-cuda PROGRAM does PROGRAM load torch_cuda?

``setup`` leaves ``.libtorch/torch`` (``include``, ``lib``, ``build-version``) and,
on Linux, ``.libtorch/nvidia/cu13/lib`` beside it, where the library itself looks
for them. The folder appears whole or not at all; a set-up that was interrupted
goes on where it can. Only the standard library is used.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import fnmatch
import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERSION = "2.13.0"
"""The one version of torch that the trainer's bindings fit."""

PYTHON = "3.11"
"""Wheels of this Python are taken whatever Python runs: only their C++ part is used."""

SPACE = 1_800_000_000
"""Bytes free at the start: the wheel, the copy pip makes of it, the unpacked part."""

TORCH_FILES = (
    "torch/include/*",
    "torch/lib/libtorch.*",
    "torch/lib/libtorch_cpu.*",
    "torch/lib/libc10.*",
    "torch/lib/libgomp*",
    "torch/lib/libomp*",
    "torch.libs/*",
    "torch-*/licenses/*",
    "torch-*/LICENSE*",
)
CUDA_FILES = (
    "nvidia/*/lib/libcudart.so.*",
    "nvidia/*/lib/libcupti.so.*",
    "nvidia*/licenses/*",
    "nvidia*/License*",
)
CUDA_EXTRAS = "cudart,cupti"

FULL = 300_000_000
"""Bytes free below which a download is taken to have failed for want of space."""

OFFLINE = re.compile(
    r"NewConnectionError|incomplete-download|Max retries|name resolution|timed out|ProxyError"
    r"|SSLError|Connection(?:Reset|Refused|Aborted| broken)|Network is unreachable"
)
OWN_LIBTORCH = (
    f"or set LIBTORCH to the folder of a libtorch {VERSION} of your own (it holds include and lib)"
)


class SetupError(Exception):
    """Raised when the set-up cannot go on; the message names a way out."""


def say(line: str) -> None:
    """Print one line of progress to stderr."""
    print(f"libtorch: {line}", file=sys.stderr, flush=True)


def setup(root: Path) -> None:
    """Download and unpack libtorch into `root` unless it is there already.

    Raises
    ------
    SetupError
        If the wheels cannot be downloaded, do not fit this machine or do not
        fit on the disk, or if the unpacked library does not load.
    """
    if is_ready(root):
        return
    partial = root.with_name(root.name + ".partial")
    with only_one(root.with_name(root.name + ".lock")):
        if is_ready(root):
            return
        wheels = partial / "wheels"
        wheels.mkdir(parents=True, exist_ok=True)
        sweep(partial, keep=wheels)
        check_space(partial)
        torch = wheel(f"torch=={VERSION}", partial, ["--no-deps"])
        tree = partial / "tree"
        unpack(torch, tree, TORCH_FILES)
        toolkit = cuda_toolkit(torch)
        if toolkit is not None:
            wheel(f"cuda-toolkit[{CUDA_EXTRAS}]=={toolkit}", partial, [])
            for path in sorted(wheels.glob("nvidia_*.whl")):
                unpack(path, tree, CUDA_FILES)
        finish(tree)
        if root.exists():
            say(f"replacing {root}, which is no libtorch {VERSION}")
            root.rename(partial / "replaced")
        tree.rename(root)
        shutil.rmtree(partial)
        say(f"ready in {root} ({size(root) / 1e6:.0f} MB)")


def is_ready(root: Path) -> bool:
    """Tell whether `root` holds a complete set-up of the right version."""
    try:
        text = (root / "torch" / "build-version").read_text(encoding="utf-8")
    except OSError:
        return False
    return text.strip() == VERSION


@contextlib.contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, waiting for a set-up that is under way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of the same folder")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sweep(folder: Path, keep: Path) -> None:
    """Remove what an interrupted set-up left in `folder`, except `keep`."""
    for path in folder.iterdir():
        if path == keep:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def check_space(folder: Path) -> None:
    """Refuse to start a download for which the disk has no room."""
    free = shutil.disk_usage(folder).free
    have = size(folder)
    if free + have < SPACE:
        message = (
            f"needs {SPACE / 1e9:.1f} GB free in {folder.resolve().parent}, found {free / 1e9:.1f}"
            f" GB: free some space, {OWN_LIBTORCH}"
        )
        raise SetupError(message)


def size(folder: Path) -> int:
    """Return the bytes of all files below `folder`, as they are now."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118
    return total


def wheel(requirement: str, partial: Path, options: Sequence[str]) -> Path:
    """Download `requirement` into ``partial/wheels`` and return its wheel.

    A wheel that an earlier run downloaded whole is used again. pip works in a
    folder of its own below `partial`, so that a killed download leaves nothing
    in ``wheels`` and a small temporary folder of the system does not matter.
    """
    name, _, version = re.sub(r"\[.*\]", "", requirement).partition("==")
    wheels = partial / "wheels"
    pattern = f"{name.replace('-', '_')}-{version}*.whl"
    found = sorted(wheels.glob(pattern))
    if found:
        say(f"using the downloaded {found[0].name}")
        return found[0]
    say(f"downloading {requirement}")
    incoming = partial / "incoming"
    scratch = partial / "scratch"
    for folder in (incoming, scratch):
        folder.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--progress-bar=off"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(incoming)]
    command += ["--only-binary=:all:", "--implementation=cp", f"--python-version={PYTHON}"]
    command += [*options, requirement]
    run_pip(command, requirement, scratch)
    # The wheel asked for comes last: once it is in place, so are the others.
    arrived = sorted(incoming.glob("*.whl"), key=lambda path: fnmatch.fnmatch(path.name, pattern))
    for path in arrived:
        path.replace(wheels / path.name)
    for folder in (incoming, scratch):
        shutil.rmtree(folder)
    found = sorted(wheels.glob(pattern))
    if not found:
        raise SetupError(f"pip downloaded no wheel of {requirement}: {OWN_LIBTORCH}")
    return found[0]


def run_pip(command: Sequence[str], requirement: str, scratch: Path) -> None:
    """Run pip with `scratch` as its temporary folder, showing what has arrived."""
    log = scratch.with_name("pip.log")
    environment = {**os.environ, "TMPDIR": str(scratch.resolve())}
    # These would choose another place or kind of wheel than the one asked for.
    for name in ("PIP_TARGET", "PIP_NO_BINARY", "PIP_PLATFORM", "PIP_REQUIRE_VIRTUALENV"):
        environment.pop(name, None)
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            free = watch(process, scratch)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode != 0:
        raise SetupError(pip_message(requirement, log.read_text(encoding="utf-8"), free))


def watch(process: subprocess.Popen[bytes], scratch: Path) -> int:
    """Wait for `process`, reporting the bytes in `scratch` now and then.

    Returns the fewest bytes that were free on the disk meanwhile.
    """
    terminal = sys.stderr.isatty()
    pause = 1.0 if terminal else 15.0
    due = time.monotonic() + pause
    shown = False
    free = shutil.disk_usage(scratch).free
    while True:
        free = min(free, shutil.disk_usage(scratch).free)
        try:
            process.wait(timeout=0.1)
            break
        except subprocess.TimeoutExpired:
            pass
        if time.monotonic() >= due:
            due += pause
            text = f"libtorch: {size(scratch) / 1e6:.0f} MB"
            print(f"\r{text}" if terminal else text, end="" if terminal else "\n", file=sys.stderr)
            sys.stderr.flush()
            shown = True
    if shown and terminal:
        print(file=sys.stderr)
    return free


def pip_message(requirement: str, log: str, free: int) -> str:
    """Return why pip failed, what it said last, and what to do about it.

    pip calls a full disk an interrupted connection, so `free`, the fewest
    bytes that were free while it ran, counts more than its words.
    """
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")] or lines
    said = "; ".join(errors[-2:]) or "nothing"
    if free < FULL or "No space left" in log:
        advice = f"the disk is full or nearly so: free {SPACE / 1e9:.1f} GB"
    elif OFFLINE.search(log):
        advice = "the package index was not reached: check the network and run it again"
    elif "No matching distribution" in log:
        machine = f"{platform.system()} {platform.machine()}"
        advice = f"there is no wheel of it for this machine ({machine})"
    else:
        advice = "run it again"
    return f"cannot download {requirement}: {advice}, {OWN_LIBTORCH}\n  pip: {said}"


def cuda_toolkit(torch: Path) -> str | None:
    """Return the version of the CUDA toolkit that the wheel `torch` asks for."""
    with open_wheel(torch) as archive:
        names = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        text = archive.read(names[0]).decode("utf-8") if names else ""
    match = re.search(r"^Requires-Dist: cuda-toolkit\[.*\]==([\w.]+)(.*)$", text, re.MULTILINE)
    if match is None or ("Linux" in match[2] and platform.system() != "Linux"):
        return None
    return match[1]


def open_wheel(path: Path) -> zipfile.ZipFile:
    """Open a downloaded wheel; one that is damaged is removed."""
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        path.unlink()
        raise SetupError(f"{path.name} was damaged and is removed: run it again") from error


def unpack(path: Path, tree: Path, patterns: Sequence[str]) -> None:
    """Unpack the files of the wheel `path` that match `patterns` into `tree`."""
    say(f"unpacking {path.name}")
    try:
        with open_wheel(path) as archive:
            for member in archive.infolist():
                if any(fnmatch.fnmatchcase(member.filename, p) for p in patterns):
                    archive.extract(member, tree)
    except zipfile.BadZipFile as error:
        path.unlink()
        raise SetupError(f"{path.name} was damaged and is removed: run it again") from error


def finish(tree: Path) -> None:
    """Complete the unpacked `tree` and make sure that its library loads."""
    library = tree / "torch" / "lib"
    # The bindings link libgomp by its bare name; take the one unpacked here.
    if (library / "libgomp.so.1").exists():
        (library / "libgomp.so").symlink_to("libgomp.so.1")
    core = next(iter(sorted(library.glob("libtorch_cpu.*"))), None)
    if core is None or not (tree / "torch" / "include" / "torch").is_dir():
        raise SetupError(f"the wheel holds no libtorch for this machine: {OWN_LIBTORCH}")
    command = [sys.executable, "-I", "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])"]
    result = subprocess.run(
        [*command, str(core.resolve())], env={}, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit status {result.returncode}"]
        raise SetupError(f"libtorch does not load on this machine ({lines[-1]}): {OWN_LIBTORCH}")
    (tree / "torch" / "build-version").write_text(VERSION + "\n", encoding="utf-8")


def check(folder: Path) -> None:
    """Check that `folder` is a libtorch of the right version.

    Raises
    ------
    SetupError
        If it has no headers or libraries, or if it is of another version.
    """
    if not (folder / "include" / "torch").is_dir() or not (folder / "lib").is_dir():
        missing = "holds no libtorch (folders include/torch and lib)"
        raise SetupError(f"LIBTORCH={folder} {missing}: correct or unset it")
    check_version(folder_version(folder), f"LIBTORCH={folder}")


def folder_version(folder: Path) -> str | None:
    """Return the version a libtorch folder says it has, or None."""
    try:
        return (folder / "build-version").read_text(encoding="utf-8").strip()
    except OSError:
        pass
    for name in ("torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"):
        try:
            text = (folder / "include" / name).read_text(encoding="utf-8")
        except OSError:
            continue
        match = re.search(r'^#define TORCH_VERSION "([^"]+)"', text, re.MULTILINE)
        if match is not None:
            return match[1]
        parts = re.findall(
            r"^#define TORCH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text, re.MULTILINE
        )
        if parts:
            return ".".join(parts)
    return None


def check_version(found: str | None, where: str) -> None:
    """Refuse a torch of another version than the trainer's bindings fit."""
    plain = None if found is None else found.partition("+")[0]
    if plain != VERSION:
        message = (
            f"needs torch {VERSION}, found {found or 'an unknown version'} ({where}):"
            f" install that version, correct LIBTORCH or unset it"
        )
        raise SetupError(message)


def setup_python() -> None:
    """Install all of PyTorch into the running Python unless it is there already.

    Raises
    ------
    SetupError
        If pip cannot install it or another version stays in its way.
    """
    if installed_torch() is None:
        say(f"installing all of PyTorch {VERSION} into {sys.prefix} (4.7 GB)")
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
        if subprocess.run([*command, f"torch=={VERSION}"], check=False).returncode != 0:
            raise SetupError(f"pip could not install torch {VERSION}: {OWN_LIBTORCH}")
    importlib.invalidate_caches()
    check_version(installed_torch(), sys.prefix)


def installed_torch() -> str | None:
    """Return the version of torch that the running Python has, or None."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def check_cuda(program: Path) -> None:
    """Check that `program` loads torch_cuda, and that all its libraries are found.

    Raises
    ------
    SetupError
        If the linker dropped the library or a library is missing.
    """
    result = subprocess.run(
        ["ldd", str(program)], env={}, capture_output=True, text=True, check=True
    )
    missing = [line.split()[0] for line in result.stdout.splitlines() if "not found" in line]
    if missing:
        raise SetupError(f"{program} does not find {', '.join(missing)}: build it again")
    if "libtorch_cuda.so" not in result.stdout:
        raise SetupError(f"{program} is not linked to torch_cuda: it would never see a GPU")
    say(f"{program} is linked to torch_cuda")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands and return the exit status."""
    parser = argparse.ArgumentParser(description="Set up or check the libtorch of the trainer.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("setup", help="download and unpack").add_argument("folder", type=Path)
    commands.add_parser("check", help="check a libtorch folder").add_argument("folder", type=Path)
    commands.add_parser("setup-python", help="install all of PyTorch into this Python")
    commands.add_parser("check-cuda", help="check a program").add_argument("program", type=Path)
    options = parser.parse_args(arguments)
    try:
        if options.command == "setup":
            setup(options.folder)
        elif options.command == "check":
            check(options.folder)
        elif options.command == "setup-python":
            setup_python()
        else:
            check_cuda(options.program)
    except SetupError as error:
        say(f"error: {error}")
        return 1
    except OSError as error:
        advice = f": free {SPACE / 1e9:.1f} GB" if error.errno == errno.ENOSPC else ""
        say(f"error: {error}{advice}")
        return 1
    except KeyboardInterrupt:
        say("interrupted; what was downloaded whole is kept for the next run")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
