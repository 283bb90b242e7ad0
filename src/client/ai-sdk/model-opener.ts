import { connect, type TabserveStatus } from '../index.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import { isClient } from '../base/refusals.ts';
import type { TabserveOptions, TextClient } from './options.ts';

/** What a model is asked for. */
type AskedDeployment = 'text-generator' | 'embedder' | 'reranker';

/** A model that serves the deployment that was asked for. */
export interface OpenedModel {
  readonly serve: TextClient;
  /** Whether it still does. */
  readonly isServed: () => boolean;
}

/**
 * Resolves when the model serves this deployment, whatever model served before. Rejects as `connect` and `loadModel` do, or with
 * the signal's reason when it aborts; the load goes on, since other tabs may wait for it.
 */
export type OpenModel = (
  modelId: string,
  deployment: AskedDeployment,
  signal: AbortSignal | undefined,
) => Promise<OpenedModel>;

/** Opens models with one client, which the first call connects. */
export function createModelOpener({ load: loadOptions, ...options }: TabserveOptions): OpenModel {
  let connected: Promise<TextClient> | undefined;
  /** Concurrent calls share one load of a model. */
  const loads = new Map<string, Promise<unknown>>();

  /** After a failed connection, the next call tries again. */
  const connectOnce = (): Promise<TextClient> => {
    // Each call names its model.
    connected ??= hasClient(options)
      ? openGiven(options.serve)
      : connect({ ...options, model: options.model ?? null });
    connected.catch(() => {
      connected = undefined;
    });
    return connected;
  };

  const load = async (serve: TextClient, modelId: string, deployment: AskedDeployment): Promise<void> => {
    const key = `${deployment} ${modelId}`;
    const begin = () =>
      serve.loadModel(modelId, { ...loadOptions, deployment }).finally(() => loads.delete(key));
    const running = loads.get(key) ?? begin();
    loads.set(key, running);
    await running;
  };

  const open = async (modelId: string, deployment: AskedDeployment): Promise<OpenedModel> => {
    const serve = await connectOnce();
    // The model may load where the first one could not.
    const status = await serve.ready().catch(() => serve.status());
    if (status.state !== 'ready' || servedIdOf(status, deployment) !== modelId)
      await load(serve, modelId, deployment);
    return { serve, isServed: () => servedIdOf(serve.status(), deployment) === modelId };
  };

  return (modelId, deployment, signal) => {
    const opening = open(modelId, deployment);
    return signal ? untilAborted(opening, signal) : opening;
  };
}

/** In every option, undefined counts as left out. */
function hasClient(options: object): options is { readonly serve: TextClient | Promise<TextClient> } {
  return 'serve' in options && options.serve !== undefined;
}

async function openGiven(given: TextClient | Promise<TextClient>): Promise<TextClient> {
  const serve = await given;
  isClient('serve', serve);
  return serve;
}

function servedIdOf(
  { model, encoders = [], backend }: TabserveStatus,
  asked: AskedDeployment,
): string | undefined {
  const encoder = encoders.find(({ deployment }) => deployment === asked);
  // A server encodes with the model that generates, unless another one is named.
  const serves = asked === 'text-generator' || backend?.name === 'server' ? model : undefined;
  return (encoder ?? serves)?.id;
}
