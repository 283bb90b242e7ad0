"""The HTTP routes of Tabserve's bridge, in front of the deployments.

Annotations have to be objects here, not text: Ray sends the routes to a replica without the names that only annotations use, and FastAPI would
take `request: Request` for a query parameter.
"""

import json
import logging
from typing import Any, Awaitable, Callable, Mapping

from fastapi import FastAPI
from fastapi.routing import APIRoute
from ray import serve
from ray.exceptions import RayTaskError
from ray.serve.exceptions import BackPressureError
from ray.serve.handle import DeploymentHandle
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from completion_events import Completion
from completion_request import InvalidRequest, check_names, parse_completion, parse_query

MAX_BODY_BYTES = 8 * 2**20
MAX_HOUSES = 256
RETRY_AFTER_S = 1
FAILED = "The deployment has failed: see the log of its replica."

# Ray Serve's own, which a replica writes to its log.
logger = logging.getLogger("ray.serve")


class PushingBack(APIRoute):
    """Answers a full queue, because Ray replaces an app's handler of BackPressureError with its own, a 503."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                return await handle(request)
            except BackPressureError as error:
                headers = {"Retry-After": str(RETRY_AFTER_S)}
                return error_response(429, str(error), "back_pressure", headers=headers)

        return guarded


app = FastAPI(title="Tabserve on Ray Serve", docs_url=None, redoc_url=None)
app.router.route_class = PushingBack


def error_body(status: int, message: str, code: str, param: str | None = None) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def error_response(
    status: int, message: str, code: str, param: str | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    return JSONResponse(error_body(status, message, code, param), status_code=status, headers=headers)


@app.exception_handler(HTTPException)
async def miss(_: Request, error: HTTPException) -> Response:
    """Answers an unknown path or method."""
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
    return error_response(error.status_code, f"{error.detail}.", code, headers=error.headers)


@app.exception_handler(InvalidRequest)
async def refuse(_: Request, error: InvalidRequest) -> Response:
    return error_response(400, str(error), error.code, error.param)


@app.exception_handler(RayTaskError)
async def unwrap(request: Request, error: RayTaskError) -> Response:
    """Ray wraps the error of a deployment. Its stack goes to the log only."""
    cause = error.cause
    if isinstance(cause, InvalidRequest):
        return await refuse(request, cause)
    return error_response(500, FAILED, "internal_error")


async def read_json(request: Request) -> Any:
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > MAX_BODY_BYTES:
            raise InvalidRequest("body", f"The body is larger than {MAX_BODY_BYTES // 2**20} MiB.", "body_too_large")
        pieces.append(piece)
    try:
        return json.loads(b"".join(pieces))
    except ValueError:
        raise InvalidRequest("body", "Expected the body to be JSON.", "invalid_json") from None


# Ray takes a copy of the routes at this line: a function that they call has to be defined before it.
@serve.deployment
@serve.ingress(app)
class Ingress:
    def __init__(self, generator: DeploymentHandle, adder: DeploymentHandle, house_price: DeploymentHandle) -> None:
        self._generator = generator
        self._stream = generator.options(stream=True)
        self._adder = adder
        self._house_price = house_price

    @app.get("/")
    async def text(self, request: Request) -> Response:
        text, sampling = parse_query(request.query_params.multi_items())
        pieces = [chunk.text async for chunk in self._stream.generate.remote(text, sampling)]
        return PlainTextResponse(text + "".join(pieces))

    @app.get("/adder")
    async def add(self, request: Request) -> Response:
        check_names(request.query_params, ["number"])
        given = request.query_params.get("number", "")
        try:
            number = float(given)
        except ValueError:
            raise InvalidRequest.of("number", "a finite number", given or "nothing") from None
        if number in (float("inf"), float("-inf")) or number != number:
            raise InvalidRequest.of("number", "a finite number", given)
        total = await self._adder.remote(number)
        return JSONResponse(int(total) if total == int(total) else total)

    @app.post("/house-price")
    async def price(self, request: Request) -> Response:
        body = await read_json(request)
        if isinstance(body, dict):
            check_names(body, ["features"])
        features = body.get("features") if isinstance(body, dict) else None
        if not isinstance(features, list) or not 0 < len(features) <= MAX_HOUSES:
            expected = f"a list of numbers, or at most {MAX_HOUSES} such lists"
            raise InvalidRequest("features", f"Expected `features` to be {expected}.")
        houses = features if isinstance(features[0], list) else [features]
        # Send all before waiting for the first, so that they share batches.
        answers = [self._house_price.remote(house) for house in houses]
        return JSONResponse({"predictions": [await answer for answer in answers]})

    @app.post("/v1/completions")
    async def complete(self, request: Request) -> Response:
        asked = parse_completion(await read_json(request))
        model = (await self._generator.describe.remote())["id"]
        if asked.model not in (None, model):
            message = f"The model `{asked.model}` does not exist: `{model}` is served."
            return error_response(404, message, "model_not_found", "model")
        completion = Completion(asked, model, self._stream.generate.remote)
        if not asked.is_stream:
            return JSONResponse(await completion.whole())
        events = completion.events()
        # Wait for the first event before sending the status, so that an early error has its own status.
        first = await anext(events)

        async def body():
            try:
                yield first
                async for event in events:
                    yield event
            except Exception:
                # The status has been sent. The stack goes only to the replica's log.
                logger.exception("A stream broke off")
                yield f"data: {json.dumps(error_body(500, FAILED, 'internal_error'))}\n\n"
            finally:
                await events.aclose()

        return StreamingResponse(body(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    @app.get("/v1/models")
    async def models(self) -> Response:
        return JSONResponse({"object": "list", "data": [await self._card()]})

    @app.get("/v1/models/{model_id:path}")
    async def model(self, model_id: str) -> Response:
        card = await self._card()
        if card["id"] == model_id:
            return JSONResponse(card)
        return error_response(404, f"The model `{model_id}` does not exist.", "model_not_found", "model")

    @app.get("/healthz")
    async def health(self) -> Response:
        return JSONResponse({"status": "ok", "model": (await self._generator.describe.remote())["id"]})

    async def _card(self) -> dict[str, Any]:
        described = await self._generator.describe.remote()
        return {"object": "model", "created": 0, "owned_by": "tabserve", **described}
