import type { Serve } from '../../src/worker/client.ts';
import { HttpError } from '../http/http-error.ts';
import type { Route } from '../http/router.ts';
import { servedModel } from './served-model.ts';

/** `GET /v1/models` and `GET /v1/models/{id}`: the one that serves. */
export function modelRoutes(serve: Serve): readonly Route[] {
  const created = Math.floor(Date.now() / 1000);
  const describe = async (signal: AbortSignal) => {
    const { id } = await servedModel(serve, signal);
    return { id, object: 'model', created, owned_by: 'tabserve' };
  };
  return [
    {
      path: '/v1/models',
      methods: {
        async GET(exchange) {
          exchange.sendJson(200, { object: 'list', data: [await describe(exchange.signal)] });
        },
      },
    },
    {
      path: '/v1/models/*',
      methods: {
        async GET(exchange) {
          const model = await describe(exchange.signal);
          if (model.id !== exchange.rest) throw modelNotFound(exchange.rest, model.id);
          exchange.sendJson(200, model);
        },
      },
    },
  ];
}

export function modelNotFound(asked: string, served: string): HttpError {
  return new HttpError(404, `The model \`${asked}\` does not serve: \`${served}\` does.`, {
    code: 'model_not_found',
    param: 'model',
  });
}

/** `GET /healthz`: 200 where the text generator can answer now. */
export function healthRoute(serve: Serve, isServed: () => boolean): Route {
  return {
    path: '/healthz',
    methods: {
      GET: (exchange) => {
        const { state, model, backend, numTabs, error } = serve.status();
        const isReady = isServed() && state === 'ready';
        exchange.sendJson(isReady ? 200 : 503, {
          status: isReady ? 'ok' : 'unavailable',
          isServed: isServed(),
          state,
          numTabs,
          model: model?.id ?? null,
          backend: backend ? `${backend.name} ${backend.precision}` : null,
          ...(error && { error }),
        });
        return Promise.resolve();
      },
    },
  };
}

/** `GET /metrics`: those of the worker, where one is there, and the bridge's own. */
export function metricsRoute(serve: Serve, isServed: () => boolean, ownMetrics: () => string): Route {
  return {
    path: '/metrics',
    methods: {
      async GET(exchange) {
        const metrics = isServed() ? await serve.metrics() : '';
        exchange.send(200, 'text/plain; version=0.0.4; charset=utf-8', metrics + ownMetrics());
      },
    },
  };
}
