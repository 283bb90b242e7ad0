import {
  isBoolean,
  isObject,
  isWholeText,
  type Validate,
  requireOptions,
} from '../../batching/base/validate.ts';
import { isClient } from '../base/refusals.ts';
import { isAddress } from '../model-source.ts';
import {
  connect,
  type LoadModelOptions,
  type ModelInfo,
  type ModelLoad,
  type TabserveClient,
  type TabserveStatus,
} from '../index.ts';
import type { ReportProgress } from './create-monitor.ts';
import { notSupported } from './dom-errors.ts';
import type { Availability, PromptApiOptions } from './types.ts';

/** Whether a session can be created, and why not. */
type Finding =
  | { readonly availability: Exclude<Availability, 'unavailable'> }
  | { readonly availability: 'unavailable'; readonly reason: string };

/** Options of this API, of which `connect` knows nothing. */
const OWN: Readonly<Record<string, Validate<unknown>>> = {
  serve: isClient,
  model: isWholeText,
  embeddingModel: isWholeText,
  load: isObject,
  generation: isObject,
  legacy: isBoolean,
  force: isBoolean,
};

const CHAT_MODEL = 'HuggingFaceTB/SmolLM2-135M-Instruct';

/** The client whose worker answers, connected by the first call, and the model of the sessions. */
export class ModelHost {
  readonly #options: PromptApiOptions;
  /** The model of the hub that `create()` loads. */
  readonly #wanted: string | undefined;
  #serve: Promise<TabserveClient> | undefined;

  /**
   * @param made The class that they are for.
   * @throws InvalidOptionError.
   */
  constructor(options: PromptApiOptions, made: string) {
    requireOptions(`create${made}`, options);
    for (const [name, value] of Object.entries(options)) if (value !== undefined) OWN[name]?.(name, value);
    this.#options = options;
    const { model } = options;
    this.#wanted = model && isAddress(model) ? undefined : model;
  }

  async availability(): Promise<Availability> {
    return (await this.#find(await this.connected())).availability;
  }

  /** The model that serves, if it can answer; undefined otherwise. */
  async model(): Promise<ModelInfo | undefined> {
    const serve = await this.connected();
    return (await this.#find(serve)).availability === 'available' ? serve.status().model : undefined;
  }

  /**
   * Resolves when the model of the sessions can answer. Rejects as `ready()` and `loadModel` do.
   *
   * @throws DOMException named NotSupportedError if there is no such model, or NotAllowedError where a download has to wait
   * for the user.
   */
  async open(report: ReportProgress): Promise<{ readonly serve: TabserveClient; readonly model: ModelInfo }> {
    const serve = await this.connected();
    const finding = await this.#find(serve);
    if (finding.availability === 'unavailable') throw notSupported(finding.reason);
    if (finding.availability === 'downloadable') requireActivation();
    report(0);
    const model = await this.#load(serve, report);
    if (!model?.hasChatTemplate) throw notSupported(noTemplate(model));
    report(1);
    return { serve, model };
  }

  /** The client. The first call connects it. */
  connected(): Promise<TabserveClient> {
    const options = this.#options;
    this.#serve ??= hasClient(options)
      ? Promise.resolve(options.serve)
      : connect({
          ...options,
          ...Object.fromEntries(Object.keys(OWN).map((name) => [name])),
          model: this.#wanted ? null : options.model,
        });
    return this.#serve;
  }

  async #find(serve: TabserveClient): Promise<Finding> {
    // The worker answers after its welcome, so the status below is its own. The call fails without storage.
    const stored = await serve.storedModels().catch(() => undefined);
    const status = serve.status();
    if (status.state === 'closed') return unavailable('The client is closed: connect again.');
    if (status.backend?.name === 'server')
      return unavailable('A server answers, but sessions need a model in the browser: set `backend`.');
    const wanted = this.#wanted;
    const isLost = status.state === 'failed' && !stored;
    if (!wanted || status.model?.id === wanted || isLost) return findingOf(status);
    if (status.load?.id === wanted) return { availability: 'downloading' };
    const isStored = stored?.some(({ id, dtype }) => id === wanted && dtype !== undefined);
    return { availability: isStored ? 'available' : 'downloadable' };
  }

  /** Joins a load that another tab has begun. */
  async #load(serve: TabserveClient, report: ReportProgress): Promise<ModelInfo | undefined> {
    const [wanted, { load }] = [this.#wanted, this.#options];
    if (wanted !== undefined && serve.status().model?.id !== wanted) {
      const { model } = await serve.loadModel(wanted, reportingTo(report, load));
      return model;
    }
    const unsubscribe = serve.subscribe(
      'status',
      ({ progress }) => progress && reportDownload(progress, report),
    );
    try {
      return (await serve.ready()).model;
    } finally {
      unsubscribe();
    }
  }
}

function hasClient(
  options: PromptApiOptions,
): options is PromptApiOptions & { readonly serve: TabserveClient } {
  return Reflect.get(options, 'serve') !== undefined;
}

function findingOf({ state, model, error }: TabserveStatus): Finding {
  if (state === 'failed') return unavailable(error?.message ?? 'The worker failed to start: see its status.');
  if (model?.hasChatTemplate === false) return unavailable(noTemplate(model));
  return { availability: state === 'ready' ? 'available' : 'downloading' };
}

function unavailable(reason: string): Finding {
  return { availability: 'unavailable', reason };
}

function noTemplate(model: ModelInfo | undefined): string {
  return `${model?.id ?? 'The model'} has no chat template: name a chat model in \`model\`, such as ${CHAT_MODEL}.`;
}

/** Options of a load, which is reported too. */
export function reportingTo(report: ReportProgress, load: PromptApiOptions['load']): LoadModelOptions {
  const onProgress = (progress: ModelLoad): void => {
    load?.onProgress?.(progress);
    reportDownload(progress, report);
  };
  return { ...load, onProgress };
}

function reportDownload(
  { phase, loaded, total }: { readonly phase: string; readonly loaded: number; readonly total: number },
  report: ReportProgress,
): void {
  if (phase === 'download' && total > 0) report(loaded / total);
}

/** As browsers do: a page may begin a large download only after a click or a key press. @throws DOMException */
export function requireActivation(): void {
  // Missing in some browsers.
  if (!('userActivation' in navigator) || navigator.userActivation.hasBeenActive) return;
  throw new DOMException(
    'The model has to be downloaded first: call create() after the user has clicked or pressed a key.',
    'NotAllowedError',
  );
}
