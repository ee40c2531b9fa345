# SPDX-License-Identifier: Apache-2.0
"""Disks that are full, read-only or gone, and limits that the system sets. Mounts need root."""
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator

from place import Failure, Place, Service, eventually
from trial import Row, Setup, recovers, timed


def command(*words: str) -> None:
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode:
        raise Failure(f"{' '.join(words)}: {run.stderr.strip()}")


class SmallDisk:
    """A database on a tmpfs of its own, with clients and a keeper of checkpoints."""

    def __init__(self, setup: Setup, megabytes: int = 200) -> None:
        self.place = setup.place()
        self.folder = self.place.path("disk")
        os.mkdir(self.folder)
        command("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", self.folder)
        path = self.place.database.removeprefix("sqlite:")
        for name in (path, path + "-wal", path + "-shm"):
            if os.path.exists(name):
                shutil.move(name, self.folder)
        self.database = os.path.join(self.folder, os.path.basename(path))
        self.place.database = f"sqlite:{self.database}"
        self.place.checker = self.place.fresh_checker()

    def __enter__(self) -> "SmallDisk":
        return self

    def __exit__(self, *unused: object) -> None:
        self.place.close()
        subprocess.run(["umount", "-l", self.folder], check=False)
        shutil.rmtree(self.place.folder, ignore_errors=True)


def refuses(place: Place, service: Service) -> list[str]:
    """Whether readiness and requests say that records can't be written; what is wrong if not."""
    try:
        eventually("readiness is lost", lambda: not service.is_ready(), 20)
        before = place.delivered()
        time.sleep(0.3)
        # Answers that were under way may still arrive; nothing new is signed.
        made = place.delivered() - before
        return [f"{made} signatures while records can't be written"] if made > 16 else []
    except Failure as failure:
        return [str(failure)]


def goes_on(place: Place, service: Service) -> list[str]:
    """Whether it recovers by itself."""
    if not service.is_alive:
        return [f"it died: {service.process.returncode} {service.log[-300:]}"]
    try:
        eventually("readiness is back", service.is_ready, 20)
    except Failure as failure:
        return [f"{failure} {service.log[-300:]}"]
    return recovers(place)


def recovered(service: Service) -> bool:
    return service.is_alive and service.is_ready()


def passing(name: str, setup: Setup, times: int, fault: Callable[[SmallDisk], Callable[[], None]]) -> Row:
    """A fault that comes and goes under load, and that the service is to get over by itself."""
    started, row = time.monotonic(), Row(name)
    with SmallDisk(setup) as disk:
        place = disk.place
        service = place.start()
        place.keep_checkpoints()
        load = place.load(connections=8, rate=200)
        for _ in range(times):
            place.wait_for_signatures()
            end = fault(disk)
            problems = refuses(place, service)
            end()
            row.attempt(place, *problems, *goes_on(place, service))
            if row.tried > row.survived and not recovered(service):
                service.kill()
                service = place.start()
        load.stop()
        row.problems += [] if service.stop() == 0 else ["it did not stop in order"]
        row.conclude(place)
    return timed(row, started)


def fill(setup: Setup) -> Callable[[SmallDisk], Callable[[], None]]:
    def fault(disk: SmallDisk) -> Callable[[], None]:
        ballast = os.path.join(disk.folder, "ballast")
        try:
            with open(ballast, "wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 20))
        except OSError:
            pass
        # A few pages are left, so that it fills amid a transaction, and amid a write.
        os.truncate(ballast, max(0, os.path.getsize(ballast) - 4096 * setup.dice.randrange(0, 40)))
        return lambda: os.remove(ballast)
    return fault


def limit_file_size(disk: SmallDisk) -> Callable[[], None]:
    pid = disk.place.services[-1].pid
    size = os.path.getsize(disk.database + "-wal")
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size // 2, resource.RLIM_INFINITY))

    def lift() -> None:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return lift


def rename_folder(disk: SmallDisk) -> Callable[[], None]:
    """Moves the files away and back: a mount point itself can't be renamed."""
    away = os.path.join(disk.folder, "away")
    os.mkdir(away)
    names = [name for name in os.listdir(disk.folder) if name.startswith("offer-signer.db")]
    for name in names:
        os.rename(os.path.join(disk.folder, name), os.path.join(away, name))

    def back() -> None:
        for name in names:
            os.rename(os.path.join(away, name), os.path.join(disk.folder, name))
        os.rmdir(away)
    return back


def lasting(name: str, setup: Setup, times: int, destroy: Callable[[SmallDisk], Callable[[], None]]) -> Row:
    """The database goes under load: nothing is signed, also not after a restart, until it is back."""
    started, row = time.monotonic(), Row(name)
    for _ in range(times):
        with SmallDisk(setup) as disk:
            place = disk.place
            service = place.start()
            place.keep_checkpoints()
            load = place.load(connections=8, rate=200)
            place.wait_for_signatures()
            restore = destroy(disk)
            problems = refuses(place, service)
            service.kill()
            problems += refuses_to_start(place)
            restore()
            place.start()
            row.attempt(place, *problems, *recovers(place))
            load.stop()
            place.services[-1].stop()
            row.conclude(place)
    return timed(row, started)


def refuses_to_start(place: Place) -> list[str]:
    service = place.start(waits=False)
    try:
        eventually("it gives up", lambda: not service.is_alive, 10)
    except Failure:
        return ["it started although its records are gone"]
    return [] if service.process.returncode in (1, 3) else [f"it ended with {service.process.returncode}"]


def move_away(names: tuple[str, ...]) -> Callable[[SmallDisk], Callable[[], None]]:
    """What an administrator might remove by mistake; what else is there then is thrown away when it is restored."""
    def destroy(disk: SmallDisk) -> Callable[[], None]:


        whole = {name for name in os.listdir(disk.folder)}
        for name in names:
            os.rename(disk.database + name, os.path.join(disk.folder, "safe" + name))

        def restore() -> None:
            for name in set(os.listdir(disk.folder)) - whole - {"safe" + name for name in names}:
                os.remove(os.path.join(disk.folder, name))
            for name in names:
                os.rename(os.path.join(disk.folder, "safe" + name), disk.database + name)
        return restore
    return destroy


def read_only(setup: Setup) -> Row:
    """A file system can't be made read-only while files are open for writing; so it is, while the service is down."""
    started, row = time.monotonic(), Row("read-only file system at the start")
    with SmallDisk(setup) as disk:
        place = disk.place
        place.start()
        load = place.load(connections=8, rate=200)
        for _ in range(setup.choose(3, 20)):
            place.wait_for_signatures()
            place.services[-1].kill()
            command("mount", "-o", "remount,ro", disk.folder)
            problems = refuses_to_start(place)
            command("mount", "-o", "remount,rw", disk.folder)
            place.start()
            row.attempt(place, *problems, *recovers(place))
        load.stop()
        place.services[-1].stop()
        row.conclude(place)
    return timed(row, started)


def disk_faults(setup: Setup) -> Iterator[Row]:
    if os.geteuid() != 0:
        yield Row("disks", skipped="not tried: only root may mount")
        return
    times = setup.choose(5, 50)
    yield passing("disk full", setup, times, fill(setup))
    yield passing("files may not grow (RLIMIT_FSIZE)", setup, times, limit_file_size)
    yield passing("database moved away and back", setup, times, rename_folder)
    yield read_only(setup)
    few = setup.choose(1, 10)
    yield lasting("database, -wal and -shm removed", setup, few, move_away(("", "-wal", "-shm")))
    yield lasting("database alone removed", setup, few, move_away(("",)))
    yield lasting("-wal alone removed", setup, few, move_away(("-wal",)))
