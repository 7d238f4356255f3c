"""Discord's gateway on loopback: sessions that are identified, resumed, replayed, cut and invalidated."""

from __future__ import annotations

import json
import zlib
from typing import Any

from aiohttp import WSMsgType, web

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11


class GatewaySession:
    """A session: what was sent in it, and the connection that it has now."""

    def __init__(self, connection: GatewayConnection) -> None:
        self.log: list[dict[str, Any]] = []
        self.connection: GatewayConnection | None = connection

    async def dispatch(self, name: str, data: Any) -> None:
        payload = {"op": DISPATCH, "t": name, "s": len(self.log) + 1, "d": data}
        self.log.append(payload)
        await self.send(payload)

    async def send(self, payload: dict[str, Any]) -> None:
        if self.connection is not None:
            try:
                await self.connection.send(payload)
            except ConnectionError:
                self.connection = None


class GatewayConnection:
    """A websocket, which compresses if it was asked to."""

    def __init__(self, socket: web.WebSocketResponse, is_compressed: bool) -> None:
        self.socket = socket
        self._packer = zlib.compressobj() if is_compressed else None

    async def send(self, payload: dict[str, Any]) -> None:
        text = json.dumps(payload)
        if self._packer is None:
            await self.socket.send_str(text)
        else:
            packed = self._packer.compress(text.encode()) + self._packer.flush(zlib.Z_SYNC_FLUSH)
            await self.socket.send_bytes(packed)


class FakeGateway:
    """The gateway. `hello` are the events that follow an identification."""

    def __init__(self, token: str, hello: Any) -> None:
        self.identified = 0
        self.resumed = 0
        self.acknowledges = True
        self.forgets = False
        """Whether the next session that is to be resumed is not known any more."""
        self.refusal: int | None = None
        """The code that the next identification is closed with."""
        self.heartbeat = 0.5
        self._token = token
        self._hello = hello
        self._sessions: dict[str, GatewaySession] = {}

    async def dispatch(self, name: str, data: Any) -> None:
        for session in self._sessions.values():
            await session.dispatch(name, data)

    async def ask_to_reconnect(self) -> None:
        for session in self._sessions.values():
            await session.send({"op": RECONNECT, "d": None, "s": None, "t": None})

    async def cut(self, code: int | None = None) -> None:
        """End the connections, with a code or without a word."""
        for session in self._sessions.values():
            connection, session.connection = session.connection, None
            if connection is None:
                continue
            if code is not None:
                await connection.socket.close(code=code)
            elif (transport := connection.socket._req.transport if connection.socket._req else None) is not None:
                transport.abort()

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one connection."""
        socket = web.WebSocketResponse(max_msg_size=1 << 20)
        await socket.prepare(request)
        connection = GatewayConnection(socket, request.query.get("compress") == "zlib-stream")
        await connection.send(
            {"op": HELLO, "d": {"heartbeat_interval": int(self.heartbeat * 1000)}, "s": None, "t": None}
        )
        session: GatewaySession | None = None
        async for message in socket:
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                break
            payload = json.loads(message.data)
            match payload["op"]:
                case 1 if self.acknowledges:
                    await connection.send({"op": ACK, "d": None, "s": None, "t": None})
                case 2:
                    session = await self._identify(connection, payload["d"])
                case 6:
                    session = await self._resume(connection, payload["d"])
        if session is not None and session.connection is connection:
            session.connection = None
        return socket

    async def _identify(self, connection: GatewayConnection, asked: dict[str, Any]) -> GatewaySession | None:
        self.identified += 1
        code, self.refusal = (self.refusal or (None if asked["token"] == self._token else 4004)), None
        if code is not None:
            await connection.socket.close(code=code)
            return None
        name, session = f"S{self.identified}", GatewaySession(connection)
        self._sessions = {name: session}
        for event, data in self._hello(name):
            await session.dispatch(event, data)
        return session

    async def _resume(self, connection: GatewayConnection, asked: dict[str, Any]) -> GatewaySession | None:
        session = self._sessions.get(asked["session_id"])
        if session is None or self.forgets:
            self.forgets = False
            await connection.send({"op": INVALID, "d": False, "s": None, "t": None})
            return None
        self.resumed += 1
        session.connection = connection
        for payload in session.log[asked["seq"] :]:
            await connection.send(payload)
        await session.dispatch("RESUMED", {})
        return session
