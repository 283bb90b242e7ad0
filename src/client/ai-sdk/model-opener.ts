import { connect } from '../index.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import type { TabserveOptions, TextClient } from './options.ts';

/**
 * Resolves when the model serves, whatever model served before. Rejects as `connect` and `loadModel` do, or with the signal's
 * reason when it aborts; the load goes on, since other tabs may wait for it.
 */
export type OpenModel = (modelId: string, signal: AbortSignal | undefined) => Promise<TextClient>;

/** Opens models with one client, which the first call connects. */
export function createModelOpener({ load: loadOptions, ...options }: TabserveOptions): OpenModel {
  let connected: Promise<TextClient> | undefined;
  /** Concurrent calls share one load of a model. */
  const loads = new Map<string, Promise<unknown>>();

  /** After a failed connection, the next call tries again. */
  const connectOnce = (): Promise<TextClient> => {
    // Each call names its model.
    connected ??=
      'serve' in options
        ? Promise.resolve(options.serve)
        : connect({ ...options, model: options.model ?? null });
    connected.catch(() => {
      connected = undefined;
    });
    return connected;
  };

  const load = async (serve: TextClient, modelId: string): Promise<void> => {
    const begin = () => serve.loadModel(modelId, loadOptions).finally(() => loads.delete(modelId));
    const running = loads.get(modelId) ?? begin();
    loads.set(modelId, running);
    await running;
  };

  const open = async (modelId: string): Promise<TextClient> => {
    const serve = await connectOnce();
    // The model may load where the first one could not.
    const { state, model, encoders = [] } = await serve.ready().catch(() => serve.status());
    const served = [model, ...encoders].map((each) => each?.id);
    if (state !== 'ready' || !served.includes(modelId)) await load(serve, modelId);
    return serve;
  };

  return (modelId, signal) => (signal ? untilAborted(open(modelId), signal) : open(modelId));
}
