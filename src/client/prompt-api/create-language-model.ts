import { InvalidOptionError, ResponseFormatUnsupportedError } from '../index.ts';
import { ChatModel, contextWindowOf } from './chat-model.ts';
import { readConstraint } from './constraint.ts';
import { startMonitor, type ReportProgress } from './create-monitor.ts';
import { notSupported, quotaExceeded } from './dom-errors.ts';
import { LanguageModel, type Parts } from './language-model.ts';
import { ModelHost } from './model-host.ts';
import { readCoreOptions, readCreateOptions, type CreateSettings } from './read-options.ts';
import { samplingOptions, samplingParams, samplingParameters } from './sampling.ts';
import { runUntilAborted, type SessionState } from './session.ts';
import type {
  Availability,
  LanguageModelCreateCoreOptions,
  LanguageModelCreateOptions,
  PromptApiOptions,
  LanguageModelPrompt,
  LanguageModelPromptOptions,
} from './types.ts';
import { EventHandler } from './event-handler.ts';

/** The class `LanguageModel` of the Prompt API. */
export interface LanguageModelClass {
  readonly prototype: LanguageModel;
  /**
   * Says whether such a session can be created. Rejects with a TypeError, with a RangeError for an invalid language tag, and as
   * `connect` does.
   */
  availability(options?: LanguageModelCreateCoreOptions): Promise<Availability>;
  /**
   * Says whether answers can be made to fit a constraint: a JSON Schema, or a RegExp. Source: issue 202 of the specification. Rejects
   * as `connect` does.
   */
  isValidConstraint(constraint: object): Promise<boolean>;
  /**
   * Creates a session, and loads its model for all tabs if need be. Rejects with a TypeError, a RangeError, the reason of the signal,
   * or a DOMException: NotSupportedError for a session that cannot exist, NotAllowedError where a download has to wait for the
   * user, NetworkError where it fails, QuotaExceededError for initial prompts beyond the context window.
   */
  create(options?: LanguageModelCreateOptions): Promise<LanguageModel>;
}

/**
 * Makes a class as the Prompt API's `LanguageModel`, and installs it nowhere. Its sessions share the worker of all tabs.
 *
 * @throws InvalidOptionError for options that can't be. What `connect` refuses, the first call says.
 */
export function createLanguageModel(options: PromptApiOptions): LanguageModelClass {
  const host = new ModelHost(options, 'LanguageModel');
  const { legacy: isLegacy = false, generation = {} } = options;
  const Base = isLegacy ? LegacyLanguageModel : LanguageModel;
  const Made = class extends Base {
    static async availability(wanted?: LanguageModelCreateCoreOptions): Promise<Availability> {
      const { refusal } = readCoreOptions(wanted, isLegacy);
      return refusal === undefined ? host.availability() : 'unavailable';
    }

    static async isValidConstraint(constraint: object): Promise<boolean> {
      return isSupported(host, constraint);
    }

    static async create(wanted?: LanguageModelCreateOptions): Promise<LanguageModel> {
      const settings = readCreateOptions(wanted, isLegacy);
      const { monitor, signal } = settings;
      signal?.throwIfAborted();
      const report = startMonitor(monitor, signal);
      return runUntilAborted(signal ?? new AbortController().signal, async () =>
        clone({ ...(await prepare(host, settings, generation, report)), signal, clone }),
      );
    }
  };
  const clone = (parts: Parts): LanguageModel => new Made(parts);
  Object.defineProperty(Made, 'name', { value: 'LanguageModel' });
  if (isLegacy)
    Object.defineProperty(Made, 'params', {
      value: async () => {
        const model = await host.model();
        return model ? samplingParams(model) : null;
      },
    });
  return Made;
}

/** The worker compiles constraints, so it is asked for an answer, which is taken back. */
async function isSupported(host: ModelHost, constraint: object): Promise<boolean> {
  try {
    const { format: responseFormat } = readConstraint(constraint, true);
    const serve = await host.connected();
    const response = serve.generate(' ', { responseFormat, maxNewTokens: 0 });
    await response.accepted();
    response.cancel();
    return true;
  } catch (error) {
    if (error instanceof InvalidOptionError || error instanceof ResponseFormatUnsupportedError) return false;
    if (error instanceof TypeError || error instanceof DOMException) return false;
    throw error;
  }
}

/** @throws The errors that `create()` rejects with. */
async function prepare(
  host: ModelHost,
  { initialPrompts, refusal, sampling, tools }: CreateSettings,
  generation: NonNullable<PromptApiOptions['generation']>,
  report: ReportProgress,
): Promise<Omit<Parts, 'signal' | 'clone'>> {
  if (refusal !== undefined) throw notSupported(refusal);
  const { serve, model: info } = await host.open(report);
  const parameters = samplingParameters(sampling, info);
  const own = tools.map(({ execute: _execute, ...tool }) => tool);
  const options = {
    ...generation,
    ...samplingOptions(parameters, info),
    ...(own.length > 0 && { tools: own }),
  };
  const model = new ChatModel(serve, options, tools);
  const contextWindow = contextWindowOf(serve, info);
  const state = await begin(model, initialPrompts, contextWindow);
  return { model, state, samplingMode: sampling.mode, parameters };
}

/** Computes the initial prompts ahead. @throws QuotaExceededError */
async function begin(
  model: ChatModel,
  initialPrompts: CreateSettings['initialPrompts'],
  contextWindow: number,
): Promise<SessionState> {
  if (initialPrompts.length === 0) return { context: { kept: [], turns: [], usage: 0 }, contextWindow };
  const { numTokens: usage } = await model.measure(initialPrompts);
  if (usage > contextWindow) throw quotaExceeded({ requested: usage, quota: contextWindow });
  await model.prefill(initialPrompts);
  return { context: { kept: initialPrompts, turns: [], usage }, contextWindow };
}

/** A session with the members that the specification reserves for browser extensions. */
class LegacyLanguageModel extends LanguageModel {
  readonly #parameters: Parts['parameters'] | undefined;
  readonly #overflow = new EventHandler(this, 'quotaoverflow');

  constructor(parts?: Parts) {
    super(parts);
    this.#parameters = parts?.parameters;
    this.addEventListener('contextoverflow', () => this.dispatchEvent(new Event('quotaoverflow')));
  }

  get topK(): number | undefined {
    return this.#parameters?.topK;
  }

  get temperature(): number | undefined {
    return this.#parameters?.temperature;
  }

  get inputUsage(): number {
    return this.contextUsage;
  }

  get inputQuota(): number {
    return this.contextWindow;
  }

  get onquotaoverflow(): EventHandler['handler'] {
    return this.#overflow.handler;
  }

  set onquotaoverflow(handler: EventHandler['handler']) {
    this.#overflow.handler = handler;
  }

  measureInputUsage(input: LanguageModelPrompt, options?: LanguageModelPromptOptions): Promise<number> {
    return this.measureContextUsage(input, options);
  }
}
