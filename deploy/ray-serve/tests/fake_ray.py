"""As much of `ray.serve` as these applications touch, in one process: for tests alone, on machines without Ray.

`serve.batch` is Ray's contract, not its code: a list goes in, a list comes out, `StopIteration` ends one caller's stream.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import pickle
import sys
import types
from typing import Any, Callable

from fastapi import FastAPI


class BackPressureError(Exception):
    pass


class RayTaskError(Exception):
    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        # It crosses a process border.
        self.cause = pickle.loads(pickle.dumps(cause))


class _Method:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def remote(self, *args: Any) -> Any:
        args = pickle.loads(pickle.dumps(args))
        if inspect.isasyncgenfunction(self._call):
            return self._stream(args)
        return asyncio.ensure_future(self._wrapped(args))

    async def _stream(self, args: Any) -> Any:
        try:
            async for item in self._call(*args):
                yield pickle.loads(pickle.dumps(item))
        except BackPressureError:
            raise
        except Exception as error:
            raise RayTaskError(error) from error

    async def _wrapped(self, args: Any) -> Any:
        try:
            return await self._call(*args)
        except Exception as error:
            raise RayTaskError(error) from error


class Handle:
    def __init__(self, instance: Any) -> None:
        self._instance = instance

    def options(self, **_: Any) -> Handle:
        return self

    def remote(self, *args: Any) -> Any:
        return _Method(self._instance.__call__).remote(*args)

    def __getattr__(self, name: str) -> _Method:
        return _Method(getattr(self._instance, name))


def deployment(cls: type) -> type:
    cls.bind = classmethod(lambda bound, *args, **kwargs: Handle(bound(*args, **kwargs)))
    return cls


def ingress(app: FastAPI) -> Callable[[type], type]:
    """An app of the same routes, each a method of the instance."""

    def wrap(cls: type) -> type:
        @functools.wraps(cls.__init__)
        def init(self: Any, *args: Any) -> None:
            cls.original_init(self, *args)
            self.asgi_app = FastAPI(exception_handlers=app.exception_handlers)
            for route in app.routes:
                name = getattr(getattr(route, "endpoint", None), "__name__", "")
                if getattr(cls, name, None) is getattr(route, "endpoint", None):
                    self.asgi_app.add_api_route(route.path, getattr(self, name), methods=list(route.methods))

        cls.original_init = cls.__init__
        cls.__init__ = init
        return cls

    return wrap


def batch(max_batch_size: int, batch_wait_timeout_s: float) -> Callable[[Callable[..., Any]], Any]:
    def wrap(method: Callable[..., Any]) -> Any:
        return _Batched(method, max_batch_size, batch_wait_timeout_s)

    return wrap


class _Batched:
    def __init__(self, method: Callable[..., Any], size: int, wait_s: float) -> None:
        self.method = method
        self.size = size
        self.wait_s = wait_s
        self.batch_sizes: list[int] = []
        self._waiting: list[tuple[Any, asyncio.Queue[Any]]] = []

    def __get__(self, instance: Any, _: Any = None) -> Any:
        bound = functools.partial(self._join, instance)
        bound.set_max_batch_size = lambda size: setattr(self, "size", size)
        bound.set_batch_wait_timeout_s = lambda wait_s: setattr(self, "wait_s", wait_s)
        return bound

    def _join(self, instance: Any, item: Any) -> Any:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        self._waiting.append((item, queue))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(self.wait_s, self._cut, instance)
        return self._stream(queue) if inspect.isasyncgenfunction(self.method) else self._answer(queue)

    def _cut(self, instance: Any) -> None:
        batch, self._waiting = self._waiting[: self.size], self._waiting[self.size :]
        if self._waiting:
            asyncio.get_running_loop().call_later(0, self._cut, instance)
        self.batch_sizes.append(len(batch))
        self._task = asyncio.ensure_future(self._run(instance, batch))

    async def _run(self, instance: Any, batch: list[tuple[Any, asyncio.Queue[Any]]]) -> None:
        items = [item for item, _ in batch]
        try:
            if not inspect.isasyncgenfunction(self.method):
                for (_, queue), answer in zip(batch, await self.method(instance, items), strict=True):
                    queue.put_nowait(answer)
                return
            async for answers in self.method(instance, items):
                for (_, queue), answer in zip(batch, answers, strict=True):
                    queue.put_nowait(answer)
            for _, queue in batch:
                queue.put_nowait(StopIteration)
        except Exception as error:
            for _, queue in batch:
                queue.put_nowait(error)

    async def _answer(self, queue: asyncio.Queue[Any]) -> Any:
        answer = await queue.get()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _stream(self, queue: asyncio.Queue[Any]) -> Any:
        while (answer := await queue.get()) is not StopIteration:
            if isinstance(answer, Exception):
                raise answer
            yield answer


def install() -> None:
    """Before the applications are imported."""
    ray, serve = types.ModuleType("ray"), types.ModuleType("ray.serve")
    exceptions, serve_exceptions = types.ModuleType("ray.exceptions"), types.ModuleType("ray.serve.exceptions")
    handle = types.ModuleType("ray.serve.handle")
    ray.serve, serve.deployment, serve.ingress, serve.batch = serve, deployment, ingress, batch
    serve.Application = Handle
    exceptions.RayTaskError = RayTaskError
    serve_exceptions.BackPressureError = BackPressureError
    handle.DeploymentHandle = Handle
    for module in (ray, serve, exceptions, serve_exceptions, handle):
        sys.modules[module.__name__] = module
