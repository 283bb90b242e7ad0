import { systemClock } from '../../../batching/clock.ts';
import { ClosedError, InvalidOptionError } from '../../../batching/errors.ts';
import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { replaceFamilies } from '../../models/families.ts';
import { embeddedId, loadEmbeddedModel, loadStoredModel } from './load-model.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import { ModelStore } from '../../models/store/model-store.ts';
import { suggestModels } from '../../models/suggestions.ts';
import type { ClientMessage } from '../../../protocol/client-messages.ts';
import { LoadCancelledError } from '../../../protocol/errors/hub.ts';
import { NoChatTemplateError } from '../../../protocol/errors/model.ts';
import { StepHangError } from '../../../protocol/errors/runtime.ts';
import {
  modelNameOf,
  type Detokenization,
  type StoredModel,
  type SuggestedModel,
  type Tokenization,
} from '../../../protocol/models.ts';
import { namesOf } from '../../../protocol/names.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';
import { limitsOf, type DeviceChoice } from '../../runtime/create-backend.ts';
import { inPieces } from '../../../platform/in-pieces.ts';
import { warmUp } from '../../runtime/warm-up.ts';
import { checkGpu } from './check-gpu.ts';
import { FirstModel, limitsHere, withDevice, type ModelOptions } from './first-model.ts';
import { LoadJob } from './load-job.ts';
import { obtainModel } from './obtain-model.ts';

type LoadMessage = Extract<ClientMessage, { type: 'load-model' }>;
type ChatMessages = Extract<ClientMessage, { type: 'tokenize-chat' }>;
type ChatToTokenize = Pick<ChatMessages, 'messages' | 'addGenerationPrompt' | 'chatTemplateArguments'>;
export type LoadRequest = Pick<LoadMessage, 'source' | 'dtype' | 'whenBusy'>;

/** Decides which model serves all tabs. Another model is made ready beside it, and then takes over. */
export class ModelSwitch {
  /** Resolves when the first model serves, or has failed. @throws RuntimeLostError if another worker may do better. */
  readonly started: Promise<void>;
  readonly #options: ModelOptions;
  readonly #store: Promise<ModelStore>;
  #served: LoadedModel | undefined;
  #job: { readonly job: LoadJob; readonly done: Promise<void> } | undefined;
  /** The end of the last load: loads run one after another. */
  #last: Promise<void>;

  constructor(options: ModelOptions) {
    this.#options = options;
    if (options.families) replaceFamilies(options.families);
    this.#store = ModelStore.open(namesOf(options.app).storageFolder);
    // The embedded model serves without storage too.
    this.#store.catch(() => {});
    this.started = this.#start();
    this.#last = this.started;
  }

  /** The text of each token alone: '' for a special token, U+FFFD for a part of a character. */
  async textsOf(tokenIds: readonly number[]): Promise<readonly string[]> {
    await this.started;
    return tokenIds.map((tokenId) => {
      const stream = this.#served?.tokenizer.createTextStream();
      return stream ? stream.push(tokenId) + stream.end() : '';
    });
  }

  async tokenize(text: string, addSpecialTokens: boolean): Promise<Tokenization> {
    return resultOf(tokenizationOf(text, addSpecialTokens, await this.#whenServed()));
  }

  /** @throws NoChatTemplateError, ChatTemplateError. */
  async tokenizeChat({
    messages,
    addGenerationPrompt,
    chatTemplateArguments,
  }: ChatToTokenize): Promise<Tokenization> {
    const served = await this.#whenServed();
    const { chatTemplate } = served.tokenizer;
    if (!chatTemplate) throw NoChatTemplateError.of(served.modelInfo.id);
    const text = chatTemplate.render(messages, chatTemplateArguments, addGenerationPrompt);
    return resultOf(tokenizationOf(text, false, served));
  }

  /** @throws InvalidOptionError for an id that is outside of the vocabulary. */
  async detokenize(tokenIds: readonly number[]): Promise<Detokenization> {
    const { tokenizer, modelInfo } = await this.#whenServed();
    const { id: modelId, vocabSize } = modelInfo;
    const index = tokenIds.findIndex((tokenId) => tokenId >= vocabSize);
    if (index >= 0)
      throw InvalidOptionError.of(`tokens[${index}]`, `a token id below ${vocabSize}`, tokenIds[index]);
    return { modelId, text: tokenizer.vocabulary.decode(tokenIds) };
  }

  /**
   * Makes a model ready and lets it take over. An equal request shares the load that is under way; any other request cancels
   * it. If the load fails, the current model serves on.
   *
   * @throws RuntimeLostError if nothing can serve here any more, and the reason why the load failed.
   */
  load(request: LoadRequest): Promise<void> {
    const { source, dtype } = request;
    const id = modelNameOf(source, embeddedId(this.#options.modelUrl));
    const name = JSON.stringify([source, dtype]);
    const last = this.#job;
    // Picked files do not show in `name`, so no two such loads are equal.
    if (last && !last.job.isCancelled && last.job.name === name && source.type !== 'files') return last.done;
    last?.job.cancel(`${id} is loaded instead`);
    const job = new LoadJob(name, id, systemClock, (load) =>
      this.#options.onStatus({ load }, ['loadFailure']),
    );
    const done = this.#last.then(() => this.#run(job, request));
    this.#job = { job, done };
    this.#last = done.catch(() => {});
    return done;
  }

  steer(action: 'pause' | 'resume' | 'cancel'): void {
    const job = this.#job?.job;
    if (action === 'cancel') job?.cancel('cancelled');
    else job?.[action]();
  }

  async list(): Promise<readonly StoredModel[]> {
    return (await this.#store).list();
  }

  async suggest(): Promise<readonly SuggestedModel[]> {
    const { backend, past } = this.#options;
    return suggestModels(await limitsHere(backend, past));
  }

  async delete(key: string): Promise<void> {
    await (await this.#store).delete(key);
  }

  async #whenServed(): Promise<LoadedModel> {
    await this.started;
    if (this.#served) return this.#served;
    throw new ClosedError('No model serves: see why on the page, and load another model there.');
  }

  async #start(): Promise<void> {
    this.#served = await new FirstModel(this.#options, this.#store).serve();
  }

  async #run(job: LoadJob, request: LoadRequest): Promise<void> {
    const { backend, past, onStatus } = this.#options;
    try {
      const { model, folder } = await withDevice(backend, past, (device) =>
        this.#prepare(job, request, device),
      );
      await this.#takeOver(job, request, model, folder);
    } catch (cause) {
      // The runtime runs one call at a time, so a hung call blocks all others.
      if (cause instanceof StepHangError) throw new RuntimeLostError(cause);
      if (cause instanceof RuntimeLostError) throw cause;
      job.end();
      const isReplaced = this.#job?.job !== job;
      // The caller cancelled it: that is no failure to show.
      const isFailure = !(cause instanceof LoadCancelledError);
      const loadFailure = { id: job.id, error: toWireError(cause) };
      if (!isReplaced) onStatus(isFailure ? { loadFailure } : {}, ['load']);
      throw cause;
    } finally {
      if (this.#job?.job === job) this.#job = undefined;
    }
  }

  /** Makes a model ready to serve. The embedded model has no folder in the store. */
  async #prepare(job: LoadJob, { source, dtype }: LoadRequest, device: DeviceChoice) {
    const folder =
      source.type === 'embedded'
        ? undefined
        : await obtainModel(source, dtype, limitsOf(device), await this.#store, job);
    // This part is short and cannot be resumed, so a pause does not abort it.
    const model = await job.attempt(() =>
      folder
        ? loadStoredModel(folder, device, job.report)
        : loadEmbeddedModel(this.#options.modelUrl, device, job.report),
    );
    await checkGpu(model, device, this.#store, job.report);
    try {
      await warmUp(model.backend, model.config, (loaded, total) =>
        job.report({ phase: 'compile', loaded, total }),
      );
    } catch (error) {
      // After a hang, the release would wait forever.
      if (!(error instanceof StepHangError)) await model.backend.release();
      throw error;
    }
    return { model, folder };
  }

  async #takeOver(
    job: LoadJob,
    { whenBusy }: LoadRequest,
    model: LoadedModel,
    folder: ModelFolder | undefined,
  ): Promise<void> {
    const { generator, onStatus } = this.#options;
    job.report({ phase: 'drain', loaded: 0, total: 1 });
    const old = this.#served;
    try {
      // Once the load is cancelled, the model must not take over.
      await job.attempt((signal) => generator.useModel(model, whenBusy, signal));
    } catch (error) {
      if (!(error instanceof RuntimeLostError)) await model.backend.release();
      throw error;
    }
    this.#served = model;
    job.end();
    onStatus({ state: 'ready', model: model.modelInfo, backend: model.backendInfo }, ['error', 'load']);
    await this.#note(folder);
    await old?.backend.release();
  }

  /** Remembers the model for the next start. If that fails, the model still serves. */
  async #note(folder: ModelFolder | undefined): Promise<void> {
    const store = await this.#store.catch(() => undefined);
    try {
      await store?.serve(this.#options.modelUrl, folder?.key);
    } catch (cause) {
      this.#options.onStatus({ loadFailure: { id: '', error: toWireError(cause) } }, []);
    }
  }
}

function* tokenizationOf(
  text: string,
  addSpecialTokens: boolean,
  { tokenizer, modelInfo }: LoadedModel,
): Generator<void, Tokenization> {
  const tokenIds = yield* tokenizer.encodeInPieces(text, addSpecialTokens);
  return {
    modelId: modelInfo.id,
    contextLength: modelInfo.contextLength,
    tokenIds,
    spellings: tokenIds.map((tokenId) => tokenizer.vocabulary.spell(tokenId)),
  };
}

/** A short text doesn't wait until a long one is done. */
function resultOf<Result>(work: Generator<void, Result>): Result | Promise<Result> {
  const first = work.next();
  return first.done ? first.value : inPieces(work);
}
