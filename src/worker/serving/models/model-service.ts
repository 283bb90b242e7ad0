import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import type { CallAnswer } from '../../../protocol/call-answers.ts';
import { handleCall, type CallMessage } from '../../../protocol/calls.ts';
import { importPart } from '../../base/import-part.ts';
import type { BackendChoice } from '../../../protocol/ladder.ts';
import type { FirstModelInit } from '../../../protocol/host-messages.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';
import type { TextDeployment } from '../../text-generation/text-deployment.ts';
import type { ServeWorkerHost } from '../reports/host-reports.ts';
import type { EncoderModelsOptions } from './encoder-models.ts';
import type { ModelSwitch } from './model-switch.ts';
import type { ModelCall } from '../deployments/own-calls.ts';
import type { StatusPublisher } from '../reports/status-publisher.ts';

export interface ModelServiceOptions {
  readonly host: ServeWorkerHost;
  readonly status: StatusPublisher;
  readonly textGenerator: TextDeployment;
  readonly encoders: EncoderModelsOptions;
}

/** The code of models. */
export function importModels() {
  return importPart(() => import('./model-switch.ts'));
}

/** Starts the model that continues the text generator's prompts. */
export class ModelService {
  readonly #options: ModelServiceOptions;
  /** Set by `start`. Its code is imported on demand, so that tabs are welcomed before it has arrived. */
  #models: Promise<ModelSwitch> | undefined;
  #modelBefore: string | undefined;
  #refusal: unknown;

  constructor(options: ModelServiceOptions) {
    this.#options = options;
  }

  /**
   * Resolves when prompts are answered, or are known to fail.
   *
   * @param refusal Why no model is started.
   * @throws RuntimeLostError.
   */
  async start(first: FirstModelInit, backend: BackendChoice, refusal?: unknown): Promise<void> {
    const { status, textGenerator } = this.#options;
    this.#refusal = refusal;
    try {
      if (refusal !== undefined) throw refusal;
      await this.#serve(first, backend);
    } catch (cause) {
      if (cause instanceof RuntimeLostError) throw cause;
      const error = toWireError(cause);
      status.change({ state: 'failed', error }, ['progress']);
      textGenerator.fail(error);
    }
  }

  /** A tab tells which model the worker before this one ran. */
  noteModelBefore(id: string): void {
    this.#modelBefore = id;
  }

  async answer<Name extends ModelCall>(call: CallMessage<Name>): Promise<CallAnswer<Name>> {
    if (!this.#models) throw this.#refusal;
    const { calls } = await this.#models;
    return handleCall<Name>(calls, call);
  }

  async tokenTexts(tokenIds: readonly number[]): Promise<readonly string[]> {
    const models = await this.#models;
    return models ? models.tokenTexts(tokenIds) : [];
  }

  /** For what is answered by nobody. Does nothing where no model is started. */
  async tell(act: (models: ModelSwitch) => void): Promise<void> {
    const models = await this.#models;
    if (models) act(models);
  }

  async #serve(first: FirstModelInit, backend: BackendChoice): Promise<void> {
    const { host, status, textGenerator, encoders } = this.#options;
    this.#models = importModels().then(
      ({ ModelSwitch: Models }) =>
        new Models({
          ...host,
          first,
          modelBefore: () => this.#modelBefore,
          backend,
          generator: textGenerator,
          encoders,
          onStatus: status.change,
          onRung: (rung) => host.tell({ type: 'on-rung', rung }),
        }),
    );
    const { started } = await this.#models;
    await started;
  }
}
