import type { TabserveClient } from '../../src/client/client.ts';
import { NoModelError } from '../../src/protocol/errors/model.ts';
import type { BackendInfo, ModelInfo } from '../../src/protocol/models.ts';
import type { BatchingPolicy } from '../../src/protocol/status.ts';
import { PROBE_PATHS } from '../http/access-log.ts';
import type { Exchange } from '../http/exchange.ts';
import { getRoute, type Route } from '../http/router.ts';
import { modelIfAny } from '../tabs/tab-link.ts';
import { VERSION } from '../base/version.ts';

export const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** Paths of deployments that have one of their own. */
const OWN_PATHS: ReadonlyMap<string, string> = new Map([
  ['text-generator', '/'],
  ['embedder', '/v1/embeddings'],
  ['reranker', '/v1/rerank'],
  ['adder', '/adder'],
  ['house-price', '/house-price'],
]);

interface Service {
  readonly serve: TabserveClient;
  /** Whether a tab is connected, and the server is not stopping. */
  readonly isServed: () => boolean;
  /** Why the target, which generates instead of the tab, cannot answer now; undefined if it can. */
  readonly probe: (() => Promise<string | undefined>) | undefined;
  /** The bridge's own metrics. */
  readonly ownMetrics: () => string;
}

type FindOutage = () => string | undefined | Promise<string | undefined>;

/** Routes about the service itself: its model, health, metrics, deployments and version. */
export function serviceRoutes(service: Service): readonly Route[] {
  const { serve, isServed, probe, ownMetrics } = service;
  return [
    ...modelRoutes(serve),
    /** The worker's metrics, if there is a worker, and the bridge's own. */
    getRoute(PROBE_PATHS.metrics, async (exchange) => {
      const metrics = isServed() ? await serve.metrics() : '';
      exchange.send(200, 'text/plain; version=0.0.4; charset=utf-8', metrics + ownMetrics());
    }),
    /** 200 if the text generator in the tab can answer now. */
    getRoute(PROBE_PATHS.healthz, (exchange) => sendTabHealth(exchange, service)),
    ...healthRoutes(probe ?? (() => findTabOutage(service))),
    /** As Ray Serve's: each prefix with the name of the deployment that answers there. */
    getRoute('/-/routes', (exchange) => exchange.sendJson(200, prefixesOf(serve))),
    /** As vLLM's. */
    getRoute('/version', (exchange) => exchange.sendJson(200, { version: VERSION })),
  ];
}

/** The models that serve: a list that begins with the one that generates, if there is one, and each by its name. */
function modelRoutes(serve: TabserveClient): readonly Route[] {
  const common = { object: 'model', created: Math.floor(Date.now() / 1000), owned_by: 'tabserve' };
  const describeModels = async (signal: AbortSignal) => {
    const model = await modelIfAny(serve, signal);
    const { policy, backend, encoders = [] } = serve.status();
    return [
      ...(model ? [generatorOf(model, policy, backend)] : []),
      ...encoders.map(({ id, maxTokens, backend: own }) => ({
        id,
        ...common,
        max_model_len: maxTokens,
        backend: `${own.name} ${own.precision}`,
      })),
    ];
  };
  const generatorOf = (
    { id, contextLength, hasChatTemplate }: ModelInfo,
    { maxContextLength }: BatchingPolicy,
    backend: BackendInfo | undefined,
  ) => ({
    id,
    ...common,
    /** As vLLM's. */
    max_model_len: Math.min(contextLength, maxContextLength),
    has_chat_template: hasChatTemplate,
    backend: backend ? `${backend.name} ${backend.precision}` : null,
  });
  return [
    getRoute('/v1/models', async (exchange) => {
      exchange.sendJson(200, { object: 'list', data: await describeModels(exchange.signal) });
    }),
    getRoute('/v1/models/*', async (exchange) => {
      const models = await describeModels(exchange.signal);
      const model = models.find(({ id }) => id === exchange.rest) ?? models[0];
      if (!model) throw NoModelError.of();
      exchange.checkModel(exchange.rest, model.id);
      exchange.sendJson(200, model);
    }),
  ];
}

function healthRoutes(findOutage: FindOutage): readonly Route[] {
  return [
    /** As vLLM's. */
    getRoute(PROBE_PATHS.health, async (exchange) => {
      exchange.send((await findOutage()) === undefined ? 200 : 503, PLAIN_TEXT, '');
    }),
    /** As Ray Serve's. */
    getRoute(PROBE_PATHS.rayHealthz, async (exchange) => {
      const outage = await findOutage();
      exchange.send(outage === undefined ? 200 : 503, PLAIN_TEXT, outage ?? 'success');
    }),
  ];
}

function sendTabHealth(exchange: Exchange, { serve, isServed }: Service): void {
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
}

function findTabOutage({ serve, isServed }: Service): string | undefined {
  const { state, error } = serve.status();
  if (!isServed()) return 'No open tab is running the model.';
  return state === 'ready' ? undefined : (error?.message ?? `The model is ${state}.`);
}

function prefixesOf(serve: TabserveClient): Readonly<Record<string, string>> {
  const { model, encoders = [], deployments } = serve.status();
  const names = [
    ...(model ? ['text-generator'] : []),
    ...encoders.map(({ deployment }) => deployment),
    ...deployments.map(({ name }) => name),
  ];
  return Object.fromEntries(
    names.map((name) => [OWN_PATHS.get(name) ?? `/deployments/${encodeURIComponent(name)}`, name]),
  );
}
