"""A loopback proxy between the service and the real Neo4j that reads along in Bolt and can break it off at any point.

It reads the client's messages after the handshake, so it knows which statement of which transaction is on its way. A
*trap* waits for a transaction that mentions something (the key of a command) and springs at one message of it: before
the message goes to Neo4j, or after Neo4j has answered it with success and before the client is told.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import TracebackType
from typing import BinaryIO, Self

from plait.localdb import Endpoint

WAIT_LIMIT_SECONDS = 60

_MANIFEST = b"\x00\x00\x01\xff"
"""What a server answers to the handshake when it lists its versions and lets the client choose (Bolt 5.7 and later)."""


class Message(IntEnum):
    """Signatures of Bolt messages: the client's that matter here, and the server's summaries."""

    GOODBYE = 0x02
    BEGIN = 0x11
    RUN = 0x10
    COMMIT = 0x12
    ROLLBACK = 0x13
    SUCCESS = 0x70
    IGNORED = 0x7E
    FAILURE = 0x7F


_SUMMARIES = (Message.SUCCESS, Message.IGNORED, Message.FAILURE)


@dataclass(frozen=True)
class Point:
    """A moment in a transaction. `number` counts its messages of that kind from 1."""

    kind: Message
    number: int = 1
    after: bool = False
    """After Neo4j has answered with success, before the client hears of it; else before Neo4j hears of it."""

    def __str__(self) -> str:
        when = "after" if self.after else "before"
        return f"{when} COMMIT" if self.kind is Message.COMMIT else f"{when} statement {self.number}"


BEFORE_COMMIT = Point(Message.COMMIT)
AFTER_COMMIT = Point(Message.COMMIT, after=True)


def before_statement(number: int) -> Point:
    return Point(Message.RUN, number)


def after_statement(number: int) -> Point:
    return Point(Message.RUN, number, after=True)


Action = Callable[[], bool]
"""What a sprung trap does, on the thread of its connection. True lets the message go on; False cuts the connection."""


def cut() -> bool:
    """The action that breaks the connection."""
    return False


@dataclass
class Trap:
    """Something to be done once, at a point of a transaction that mentions `mark`."""

    mark: bytes
    point: Point
    action: Action
    sprung: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        """Wait until it has sprung."""
        assert self.sprung.wait(WAIT_LIMIT_SECONDS), f"nothing came {self.point} of {self.mark!r}"


@dataclass
class SeenTransaction:
    """A transaction as it went by: its statements in order, and whether Neo4j confirmed its commit."""

    connection: int
    statements: list[str] = field(default_factory=list[str])
    mentions: bytes = b""
    commits: int = 0
    committed: bool = False


@dataclass
class _Sent:
    """A client's message whose summary is still to come."""

    kind: int
    number: int
    transaction: SeenTransaction | None


class BoltProxy:
    """The proxy in front of `target`; use it as a context manager, and `endpoint` in place of the target."""

    def __init__(self, target: Endpoint) -> None:
        host, _, port = target.uri.rpartition("://")[2].rpartition(":")
        self._target = (host, int(port))
        self._mutex = threading.RLock()
        self._traps: list[Trap] = []
        self._seen: list[SeenTransaction] = []
        self._connections: set[_Connection] = set()
        self._count = 0
        self._flowing = threading.Event()
        self._flowing.set()
        self._released = threading.Event()
        self._door: socket.socket = socket.create_server(("127.0.0.1", 0))
        self._port = int(self._door.getsockname()[1])
        self.endpoint = replace(target, uri=f"bolt://127.0.0.1:{self._port}")
        self._doorkeeper: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._watch_door()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.refuse()
        self._door.close()

    def trap(self, mark: str, point: Point, action: Action = cut) -> Trap:
        """Set a trap. Those with the same mark spring one after the other, in the order they were set."""
        trap = Trap(mark.encode(), point, action)
        with self._mutex:
            self._traps.append(trap)
        return trap

    def hold(self, mark: str, point: Point) -> Trap:
        """A trap that stops the transaction where it is, until `cut_all`."""
        return self.trap(mark, point, self._hold)

    def clear(self) -> None:
        """Take away the traps that have not sprung."""
        with self._mutex:
            self._traps.clear()

    def cut_all(self) -> None:
        """Break every connection, those that are held too. New ones are let in."""
        with self._mutex:
            connections = list(self._connections)
            self._released.set()
            self._released = threading.Event()
        for connection in connections:
            connection.end()
        for connection in connections:
            connection.join()

    def refuse(self) -> None:
        """Neo4j is away: every connection breaks, and no new one is accepted."""
        # Closing a socket does not wake who waits in its `accept`; a connection does.
        doorkeeper, self._doorkeeper = self._doorkeeper, None
        if doorkeeper is not None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self._port)).close()
            doorkeeper.join()
        self._door.close()
        self._door = socket.socket()
        # Keeps the port: bound and not listening, it refuses connections.
        self._door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._door.bind(("127.0.0.1", self._port))
        self.cut_all()

    def let_in(self) -> None:
        """Neo4j is back, after `refuse`."""
        self._door.close()
        self._door = socket.create_server(("127.0.0.1", self._port))
        self._watch_door()

    def fall_silent(self) -> None:
        """Neo4j stops answering: connections stay and are accepted, and nothing goes through."""
        self._flowing.clear()

    def speak(self) -> None:
        """What was held up by `fall_silent` goes on."""
        self._flowing.set()

    def seen(self, mark: str | None = None) -> list[SeenTransaction]:
        """The transactions that went by since the last `forget`, of those that mention `mark`."""
        with self._mutex:
            return [seen for seen in self._seen if mark is None or mark.encode() in seen.mentions]

    def forget(self) -> None:
        with self._mutex:
            self._seen.clear()

    def _watch_door(self) -> None:
        self._doorkeeper = threading.Thread(target=self._accept, args=(self._door,), daemon=True, name="bolt-door")
        self._doorkeeper.start()

    def _accept(self, door: socket.socket) -> None:
        me = threading.current_thread()
        while True:
            client, _ = door.accept()
            if self._doorkeeper is not me:
                client.close()
                return
            with self._mutex:
                self._count += 1
                connection = _Connection(self, self._count, client, self._target)
                self._connections.add(connection)
            connection.start()

    def _hold(self) -> bool:
        with self._mutex:
            released = self._released
        released.wait()
        return False

    # What the connections tell and ask.

    @property
    def flowing(self) -> threading.Event:
        return self._flowing

    def opened(self, transaction: SeenTransaction) -> None:
        with self._mutex:
            self._seen.append(transaction)

    def closed(self, connection: _Connection) -> None:
        with self._mutex:
            self._connections.discard(connection)

    def may_pass(self, sent: _Sent, *, after: bool) -> bool:
        """Springs the trap of this moment, if there is one; whether the message may go on."""
        transaction = sent.transaction
        if transaction is None:
            return True
        with self._mutex:
            waiting: dict[bytes, Trap] = {}
            for trap in self._traps:
                waiting.setdefault(trap.mark, trap)
            for trap in waiting.values():
                at = (trap.point.kind, trap.point.number, trap.point.after)
                if at == (sent.kind, sent.number, after) and trap.mark in transaction.mentions:
                    self._traps.remove(trap)
                    break
            else:
                return True
        trap.sprung.set()
        return trap.action()


class _Connection:
    """One client's connection and the one to Neo4j behind it; a thread for each direction."""

    def __init__(self, proxy: BoltProxy, number: int, client: socket.socket, target: tuple[str, int]) -> None:
        self._proxy = proxy
        self._number = number
        self._client = client
        self._server = socket.socket()
        self._target = target
        self._sent: list[_Sent] = []
        self._mutex = threading.Lock()
        self._explicit: SeenTransaction | None = None
        self._ended = threading.Event()
        self._there = threading.Thread(target=self._forward, daemon=True, name=f"bolt-{number}-there")
        self._back = threading.Thread(target=self._return, daemon=True, name=f"bolt-{number}-back")

    def start(self) -> None:
        self._there.start()

    def end(self) -> None:
        self._ended.set()
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def join(self) -> None:
        self._there.join()

    def _forward(self) -> None:
        try:
            with contextlib.suppress(OSError, EOFError):
                self._server.connect(self._target)
                for end in (self._client, self._server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._client.makefile("rb") as client, self._server.makefile("rb") as server:
                    self._await_flow()
                    self._shake_hands(client, server)
                    self._answers = server
                    self._back.start()
                    try:
                        self._forward_messages(client)
                    finally:
                        self.end()
                        self._back.join()
        finally:
            self.end()
            self._client.close()
            self._server.close()
            self._proxy.closed(self)

    def _await_flow(self) -> None:
        while not self._proxy.flowing.wait(0.1):
            if self._ended.is_set():
                raise EOFError

    def _shake_hands(self, client: BinaryIO, server: BinaryIO) -> None:
        self._server.sendall(_exactly(client, 20))
        answer = _exactly(server, 4)
        if answer == _MANIFEST:
            number, counted = _varint(server)
            answer += counted + _exactly(server, 4 * number) + _varint(server)[1]
            self._client.sendall(answer)
            self._server.sendall(_exactly(client, 4) + _varint(client)[1])
        else:
            self._client.sendall(answer)

    def _forward_messages(self, client: BinaryIO) -> None:
        while True:
            raw, content = _message(client)
            if content:
                sent = self._note(content)
                if not self._proxy.may_pass(sent, after=False):
                    return
                if sent.kind != Message.GOODBYE:
                    with self._mutex:
                        self._sent.append(sent)
            self._await_flow()
            self._server.sendall(raw)

    def _note(self, content: bytes) -> _Sent:
        """What a client's message means for the transaction it belongs to."""
        kind = content[1]
        if kind == Message.BEGIN:
            self._explicit = self._opened()
        transaction = self._explicit
        if kind == Message.RUN:
            # A statement outside of a transaction is one by itself.
            transaction = transaction or self._opened()
            transaction.statements.append(_text(content[2:]))
            transaction.mentions += content
            return _Sent(kind, len(transaction.statements), transaction)
        if kind in (Message.COMMIT, Message.ROLLBACK):
            self._explicit = None
            if kind == Message.COMMIT and transaction is not None:
                transaction.commits += 1
        return _Sent(kind, 1, transaction)

    def _opened(self) -> SeenTransaction:
        transaction = SeenTransaction(self._number)
        self._proxy.opened(transaction)
        return transaction

    def _return(self) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                raw, content = _message(self._answers)
                if content and content[1] in _SUMMARIES:
                    with self._mutex:
                        sent = self._sent.pop(0)
                    if content[1] == Message.SUCCESS:
                        if sent.kind == Message.COMMIT and sent.transaction is not None:
                            sent.transaction.committed = True
                        if not self._proxy.may_pass(sent, after=True):
                            break
                self._await_flow()
                self._client.sendall(raw)
        self.end()


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _varint(stream: BinaryIO) -> tuple[int, bytes]:
    """A number of seven bits a byte, least significant first; and its bytes."""
    value, raw = 0, b""
    while not raw or raw[-1] & 0x80:
        raw += _exactly(stream, 1)
        value |= (raw[-1] & 0x7F) << 7 * (len(raw) - 1)
    return value, raw


def _message(stream: BinaryIO) -> tuple[bytes, bytes]:
    """The next message as it was sent, in chunks, and its content; an empty one is a sign of life."""
    raw, content = b"", b""
    while True:
        header = _exactly(stream, 2)
        raw += header
        (size,) = struct.unpack(">H", header)
        if size == 0:
            return raw, content
        chunk = _exactly(stream, size)
        raw += chunk
        content += chunk


def _text(packed: bytes) -> str:
    """The PackStream string at the start of `packed`."""
    marker = packed[0]
    if 0x80 <= marker <= 0x8F:
        start, size = 1, marker & 0x0F
    else:
        width = {0xD0: 1, 0xD1: 2, 0xD2: 4}[marker]
        start, size = 1 + width, int.from_bytes(packed[1 : 1 + width], "big")
    return packed[start : start + size].decode()


@contextlib.contextmanager
def proxied(target: Endpoint) -> Generator[BoltProxy]:
    """A proxy in front of `target` until the block ends."""
    with BoltProxy(target) as proxy:
        yield proxy
