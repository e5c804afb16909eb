"""The data folder of a local Neo4j: where its files are, its password, and the lock that keeps a second service off."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path

from pydantic import SecretStr

from plait.localdb.errors import DataFolderInUse, LocalDbError


class DataFolder:
    """The files of one local Neo4j. `open()` makes the folder and takes it for this process, `close()` gives it back.

    There are two locks. `service.lock` is held by the service: a second one is refused at once. `database.lock` is
    held by the database process, which for a moment outlives a killed service: the next one waits for it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.home = self.root / "neo4j"
        self.config_file = self.home / "conf" / "neo4j.conf"
        self.password_file = self.root / "neo4j-password"
        self._new_password_file = self.root / "neo4j-password.new"
        self.log_file = self.root / "neo4j.log"
        self.database_lock = self.root / "database.lock"
        self._service_lock = self.root / "service.lock"
        self._descriptor: int | None = None

    def open(self) -> None:
        """Make the folder, for its owner alone, and take it.

        Raises `DataFolderInUse`, or `LocalDbError` if it can't be made.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.config_file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._service_lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LocalDbError(
                f"The data folder {self.root} can't be used ({error.strerror}). Choose another one with --data-dir."
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(descriptor, 32).decode(errors="replace").strip()
            os.close(descriptor)
            raise DataFolderInUse(self.root, int(owner) if owner.isdigit() else None) from None
        os.truncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor

    def close(self) -> None:
        """Give the folder back; harmless when it is not taken."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def password_is_new(self) -> bool:
        """Whether the database may not have the password yet: so it is until `keep_password()`."""
        return not self.password_file.exists()

    @property
    def current_password_file(self) -> Path:
        return self._new_password_file if self.password_is_new else self.password_file

    def password(self) -> SecretStr:
        """The password of user `neo4j`, made on first use, in a file that its owner alone can read.

        It is written before the database first sees it, and under another name until the database has it: a crash
        in between locks nobody out. Deleting the file makes a new password at the next start.
        """
        file = self.current_password_file
        known = file.read_text(encoding="utf-8").strip() if file.exists() else ""
        if not known:
            # Letters and digits alone: people paste it into command lines, where a leading dash is an option.
            known = secrets.token_hex(24)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as new:
                new.write(known + "\n")
                new.flush()
                os.fsync(new.fileno())
        file.chmod(0o600)
        return SecretStr(known)

    def keep_password(self) -> None:
        """The database has the password now."""
        if self.password_is_new:
            self._new_password_file.replace(self.password_file)
