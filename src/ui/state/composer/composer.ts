import { createStore, type StoreApi } from 'zustand/vanilla';

import {
  TEXT_GENERATOR,
  type GenerationOptions,
  type OptionName,
  type RequestId,
  type TabserveClient,
  type WireError,
} from '../../../client/index.ts';
import { readPermalink } from '../permalink.ts';
import { canGenerate } from '../can-generate.ts';
import { isActive, type RequestView } from '../request-view.ts';
import { closeRun, type ServeStore } from '../serve-store.ts';
import { withContinuation, withEdit, writtenText, type DocumentText } from './document-text.ts';
import {
  EMPTY_GENERATION_TEXTS,
  errorOfOptions,
  errorsOf,
  isUntouched,
  type GenerationErrors,
  type GenerationTexts,
  type ParsedGeneration,
} from '../generation-fields.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { SAMPLE_PROMPTS } from './sample-prompts.ts';

/** The request whose continuation is at the end of the document. */
export interface FollowedRequest {
  readonly id: RequestId;
  /** The document that it continues. Undo goes back to it. */
  readonly base: DocumentText;
  /** The options it was sent with. */
  readonly texts: GenerationTexts;
  /** The index of the continuation that is shown. */
  readonly choice: number;
  readonly numChoices: number;
  readonly isActive: boolean;
}

export interface ComposerView {
  readonly document: DocumentText;
  readonly texts: GenerationTexts;
  readonly optionErrors: GenerationErrors;
  readonly error?: WireError | undefined;
  /** The fragment of the link that was opened; empty without one. */
  readonly linkHash: string;
  /** Undefined before the first request, and after the document is edited. */
  readonly followed?: FollowedRequest | undefined;
}

export interface SentPrompt {
  readonly prompt: string;
  readonly options: GenerationOptions;
}

export const EMPTY_PROMPT: WireError = {
  code: 'EMPTY_PROMPT',
  message: 'The prompt is empty. Write the beginning of a text first.',
};

/** What is sent where no option is typed. */
const UNTYPED: ParsedGeneration = { options: {}, errors: {} };

/** Holds the document outside React, so tokens change it without a render. */
export class Composer {
  readonly store: StoreApi<ComposerView>;
  readonly #serve: TabserveClient;
  readonly #serveStore: ServeStore;
  /** The unfinished requests sent from here, with their options. */
  readonly #sent = new Map<RequestId, GenerationTexts>();
  /** The requests of the last run that were sent from here. */
  readonly #ofRun = new Map<RequestId, SentPrompt>();

  /** @param linkHash The fragment of the page’s address: it starts with that prompt and options. */
  constructor(serve: TabserveClient, serveStore: ServeStore, linkHash: string) {
    const { prompt = SAMPLE_PROMPTS[0] ?? '', texts } = readPermalink(linkHash);
    this.#serve = serve;
    this.#serveStore = serveStore;
    this.store = createStore<ComposerView>(() => ({
      document: writtenText(prompt),
      texts,
      optionErrors: {},
      linkHash,
    }));
    serveStore.subscribe(({ requests }, previous) => {
      if (requests !== previous.requests) this.#follow(requests);
    });
  }

  /** Continues the document. While a continuation runs, starts another one of the same text. */
  async send(): Promise<void> {
    const { document, followed } = this.store.getState();
    await this.#continue(followed?.isActive ? followed.base : document);
  }

  async #continue(base: DocumentText): Promise<void> {
    const { texts } = this.store.getState();
    const parsed = isUntouched(texts) ? UNTYPED : await this.#parse(texts);
    const [id] = this.#submit([base.text], texts, parsed);
    if (id === undefined) return;
    const next = { id, base, texts, choice: 0, numChoices: 1, isActive: true };
    this.store.setState({ document: base, followed: next });
    // It may have ended already, as when nothing is served any more.
    this.#follow(this.#serveStore.getState().requests);
  }

  /** Sends prompts without changing the document. */
  async sendAll(prompts: readonly string[]): Promise<void> {
    const { texts } = this.store.getState();
    this.#submit(prompts, texts, isUntouched(texts) ? UNTYPED : await this.#parse(texts));
  }

  /** Sends nothing while no model runs, and the page says why. */
  #submit(
    prompts: readonly string[],
    texts: GenerationTexts,
    parsed: ParsedGeneration | undefined,
  ): readonly RequestId[] {
    if (!parsed || !canGenerate(this.#serveStore.getState().status.state)) return [];
    const { options, errors } = parsed;
    const error = prompts.includes('') ? EMPTY_PROMPT : errorOfOptions(errors);
    this.store.setState({ optionErrors: errors, error });
    if (error) return [];
    closeRun(this.#serveStore);
    if (this.#serveStore.getState().runs.prompts?.isClosed) this.#ofRun.clear();
    const generator = this.#serve.getHandle(TEXT_GENERATOR);
    return prompts.map((prompt) => {
      const { requestId } = generator.remote(prompt, options);
      this.#sent.set(requestId, texts);
      this.#ofRun.set(requestId, { prompt, options });
      return requestId;
    });
  }

  /** Undefined for requests of the console and of earlier runs. */
  sentAs(id: RequestId): SentPrompt | undefined {
    return this.#ofRun.get(id);
  }

  /** Continues the same text again. */
  regenerate(): void {
    const { followed } = this.store.getState();
    if (!followed) return;
    this.cancel();
    void this.#continue(followed.base);
  }

  /** Removes the last continuation, and cancels it if it runs. */
  undo(): void {
    const { followed } = this.store.getState();
    if (!followed) return;
    this.cancel();
    this.store.setState({ document: followed.base, followed: undefined, error: undefined });
  }

  cancel(): void {
    const { followed } = this.store.getState();
    if (followed?.isActive) this.#serve.cancel(followed.id);
  }

  edit(text: string): void {
    this.store.setState(({ document }) => ({
      document: withEdit(document, text),
      followed: undefined,
      error: undefined,
    }));
  }

  /** Replaces the document, and the options if there are some. */
  restore(prompt: string, texts?: GenerationTexts, linkHash = ''): void {
    this.cancel();
    this.store.setState({
      document: writtenText(prompt),
      linkHash,
      followed: undefined,
      error: undefined,
      ...(texts && { texts, optionErrors: {} }),
    });
  }

  showChoice(choice: number): void {
    const { followed } = this.store.getState();
    if (!followed) return;
    this.store.setState({ followed: { ...followed, choice } });
    this.#follow(this.#serveStore.getState().requests);
  }

  /** A half-typed value is no mistake: `checkOptions` runs when its field loses focus. */
  changeOption(name: OptionName, text: string): void {
    this.store.setState(({ texts, optionErrors, error }) => ({
      texts: { ...texts, [name]: text },
      optionErrors: { ...optionErrors, [name]: undefined },
      error: withOtherOptions(error),
    }));
  }

  resetOptions(): void {
    this.store.setState(({ error }) => ({
      texts: EMPTY_GENERATION_TEXTS,
      optionErrors: {},
      error: withOtherOptions(error),
    }));
  }

  checkOptions(): void {
    void this.#check();
  }

  async #check(): Promise<void> {
    const parsed = await this.#parse(this.store.getState().texts);
    if (parsed) this.store.setState({ optionErrors: parsed.errors });
  }

  /** Its code comes with the fields, not at the page's start. Undefined where it fails to load, which the page then says. */
  async #parse(texts: GenerationTexts): Promise<ParsedGeneration | undefined> {
    try {
      const { parseGeneration } = await import('../typed-options.ts');
      return parseGeneration(texts);
    } catch (caught) {
      this.store.setState({ error: toWireError(caught) });
      return undefined;
    }
  }

  #follow(requests: ReadonlyMap<RequestId, RequestView>): void {
    for (const [id, texts] of this.#sent) {
      const request = requests.get(id);
      if (!request || isActive(request.status)) continue;
      this.#sent.delete(id);
      if (request.status !== 'finished') continue;
      const model = this.#serveStore.getState().status.model?.id ?? '';
      // The history's code fails to load after the server gets a new version. The page still generates.
      void remember(request, texts, model).catch(() => {});
    }
    const { followed } = this.store.getState();
    const request = followed && requests.get(followed.id);
    if (!request) return;
    const { base, choice } = followed;
    const document = withContinuation(base, request.generatedTexts[choice] ?? '');
    const numChoices = request.generatedTexts.length;
    const isRunning = isActive(request.status);
    const hasChanged = numChoices !== followed.numChoices || isRunning !== followed.isActive;
    const isSameText = document.text === this.store.getState().document.text;
    if (isSameText && !hasChanged) return;
    const { optionErrors } = this.store.getState();
    this.store.setState({
      document,
      ...(hasChanged && { followed: { ...followed, numChoices, isActive: isRunning } }),
      ...(request.error && {
        error: request.error,
        optionErrors: { ...optionErrors, ...errorsOf(request.error) },
      }),
    });
  }
}

/** Loads the history with the first result, not at the page's start. */
async function remember(request: RequestView, texts: GenerationTexts, model: string): Promise<void> {
  const { addToHistory } = await import('./history-store.ts');
  const finishedAt = new Date().toISOString();
  const { id, prompt, generatedTexts, finishReason, seed, numOutputTokens } = request;
  const result = { prompt, generatedTexts, finishReason, seed, numOutputTokens };
  await addToHistory({ key: `${finishedAt} ${id}`, finishedAt, model, texts, ...result });
}

/** Other options may fix any error except an empty prompt. */
function withOtherOptions(error: WireError | undefined): WireError | undefined {
  return error === EMPTY_PROMPT ? error : undefined;
}
