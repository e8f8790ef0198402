"""A network between laju and Redis that can be made to fail: it passes, delays, holds or loses what goes through it."""

import asyncio
import threading
import time

CHUNK = 65536


class Connection:
    def __init__(self, near, far):
        self.writers = (near, far)
        self.lost = False  # it is a hole: what comes is dropped, and neither end is told

    def abort(self):
        for writer in self.writers:
            writer.transport.abort()


class Proxy:
    """Listens on a port of its own and forwards to `target`. Its calls are any thread's; they take effect at once."""

    def __init__(self, target):
        self.target = target
        self.delay_s = 0  # each way gets half of it
        self.connections = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        self.server = self.call(self.listen())
        self.address = self.server.sockets[0].getsockname()
        return self

    def __exit__(self, *_):
        self.call(self.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    @property
    def url(self):
        return "redis://%s:%d" % self.address

    # ---- what can be done to it ----

    def delay(self, seconds):
        """From now on the way there and back takes this much longer."""
        self.delay_s = seconds

    def cut(self):
        """Nothing gets through any more, and nobody is told. It is kept, as the kernels at both ends would."""
        self.loop.call_soon_threadsafe(self.passes.clear)

    def heal(self):
        """What was kept arrives now."""
        self.loop.call_soon_threadsafe(self.passes.set)

    def lose(self):
        """The connections that stand are dead from now on, and neither end hears of it. New ones are well."""
        async def lose():
            for connection in self.connections:
                connection.lost = True
        self.call(lose())

    def reset(self):
        """The connections that stand are reset."""
        async def reset():
            for connection in list(self.connections):
                connection.abort()
        self.call(reset())

    # ---- its loop ----

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    async def listen(self):
        self.passes = asyncio.Event()
        self.passes.set()
        return await asyncio.start_server(self.take, "127.0.0.1", 0)

    async def close(self):
        self.server.close()
        self.passes.set()
        for connection in list(self.connections):
            connection.abort()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

    async def take(self, near_reader, near):
        await self.passes.wait()
        try:
            far_reader, far = await asyncio.open_connection(*self.target)
        except OSError:
            near.transport.abort()
            return
        connection = Connection(near, far)
        self.connections.add(connection)
        try:
            await asyncio.gather(self.forward(connection, near_reader, far), self.forward(connection, far_reader, near))
        except OSError:
            pass
        finally:
            self.connections.discard(connection)
            connection.abort()

    async def forward(self, connection, reader, writer):
        queue = asyncio.Queue()
        delivery = asyncio.ensure_future(self.deliver(connection, queue, writer))
        try:
            while data := await reader.read(CHUNK):
                queue.put_nowait((time.monotonic() + self.delay_s / 2, data))
            queue.put_nowait((time.monotonic() + self.delay_s / 2, b""))
            await delivery
        finally:
            delivery.cancel()

    async def deliver(self, connection, queue, writer):
        """In the order of coming, each at its time; b"" is the end."""
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0, due - time.monotonic()))
            await self.passes.wait()
            if not connection.lost:
                writer.write(data) if data else writer.close()
            if not data:
                return
