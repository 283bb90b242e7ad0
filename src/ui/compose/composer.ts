import { createStore } from 'zustand/vanilla';
import type { StoreApi } from 'zustand/vanilla';

import type { Serve } from '../../worker/client/client.ts';
import { TEXT_GENERATOR } from '../../worker/protocol/protocol.ts';
import type { RequestId, WireError } from '../../worker/protocol/protocol.ts';
import { canGenerate } from '../state/can-generate.ts';
import { isActive } from '../state/request-view.ts';
import type { RequestView } from '../state/request-view.ts';
import type { ServeStore } from '../state/serve-store.ts';
import { withContinuation, withEdit, writtenText } from './document-text.ts';
import type { DocumentText } from './document-text.ts';
import { EMPTY_GENERATION_TEXTS, parseGeneration } from './generation-fields.ts';
import type { GenerationErrors, GenerationField, GenerationTexts } from './generation-fields.ts';

/** The request whose continuation stands at the end of the document. */
export interface FollowedRequest {
  readonly id: RequestId;
  /** The document that it continues, and to which undoing goes back. */
  readonly base: DocumentText;
  /** The options that it was sent with. */
  readonly texts: GenerationTexts;
  /** Which of its continuations is shown. */
  readonly choice: number;
  readonly numChoices: number;
  readonly isActive: boolean;
}

export interface ComposerView {
  readonly document: DocumentText;
  readonly texts: GenerationTexts;
  readonly optionErrors: GenerationErrors;
  readonly error: WireError | undefined;
  /** Undefined before the first request, and once the document was edited. */
  readonly followed: FollowedRequest | undefined;
}

export interface Draft {
  readonly prompt: string;
  readonly texts: GenerationTexts;
}

export const EMPTY_PROMPT: WireError = {
  code: 'EMPTY_PROMPT',
  message: 'The prompt is empty: write the beginning of a text for the model to continue.',
};

/** The document that is written and continued, outside React: tokens change it without a render. */
export class Composer {
  readonly store: StoreApi<ComposerView>;
  readonly #serve: Serve;
  readonly #serveStore: ServeStore;
  readonly #onFinished: (request: RequestView, texts: GenerationTexts) => void;
  /** Sent from here and not over yet, with the options that they were sent with. */
  readonly #sent = new Map<RequestId, GenerationTexts>();

  /** `onFinished` hears of every request that was sent from here and came to its end. */
  constructor(
    serve: Serve,
    serveStore: ServeStore,
    draft: Draft,
    onFinished: (request: RequestView, texts: GenerationTexts) => void,
  ) {
    this.#serve = serve;
    this.#serveStore = serveStore;
    this.#onFinished = onFinished;
    this.store = createStore<ComposerView>(() => ({
      document: writtenText(draft.prompt),
      texts: draft.texts,
      optionErrors: {},
      error: undefined,
      followed: undefined,
    }));
    serveStore.subscribe(({ requests }, previous) => {
      if (requests !== previous.requests) this.#follow(requests);
    });
  }

  /** Continues the document; while it is being continued, asks for another continuation of the same text. */
  send(): void {
    const { document, followed, texts } = this.store.getState();
    const base = followed?.isActive ? followed.base : document;
    const [id] = this.#submit([base.text]);
    if (id === undefined) return;
    const next = { id, base, texts, choice: 0, numChoices: 1, isActive: true };
    this.store.setState({ document: base, followed: next });
    // It may have come to its end already, as when nothing is served any more.
    this.#follow(this.#serveStore.getState().requests);
  }

  /** Sends prompts beside the document, which stays as it is. */
  sendAll(prompts: readonly string[]): void {
    this.#submit(prompts);
  }

  /** Takes the last continuation back and asks for another one. */
  regenerate(): void {
    this.undo();
    this.send();
  }

  /** Takes the last continuation back; one that runs is cancelled. */
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

  /** Replaces the document, and the options where there are some. */
  restore(prompt: string, texts?: GenerationTexts): void {
    this.cancel();
    this.store.setState({
      document: writtenText(prompt),
      followed: undefined,
      error: undefined,
      // An entry of an older history lacks the options that came later.
      ...(texts && { texts: { ...EMPTY_GENERATION_TEXTS, ...texts }, optionErrors: {} }),
    });
  }

  showChoice(choice: number): void {
    const { followed } = this.store.getState();
    if (!followed) return;
    this.store.setState({ followed: { ...followed, choice } });
    this.#follow(this.#serveStore.getState().requests);
  }

  /** A value half typed is no mistake: it is judged when its field is left. */
  changeOption(field: GenerationField, text: string): void {
    this.store.setState(({ texts, optionErrors, error }) => ({
      texts: { ...texts, [field]: text },
      optionErrors: { ...optionErrors, [field]: undefined },
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
    this.store.setState(({ texts }) => ({ optionErrors: parseGeneration(texts).errors }));
  }

  /** Sends nothing while no model runs: the page says why, and the text stays as it is. */
  #submit(prompts: readonly string[]): readonly RequestId[] {
    if (!canGenerate(this.#serveStore.getState().status.state)) return [];
    const { texts } = this.store.getState();
    const { options, errors } = parseGeneration(texts);
    const error = prompts.includes('') ? EMPTY_PROMPT : describeOptionErrors(errors);
    this.store.setState({ optionErrors: errors, error });
    if (error) return [];
    const generator = this.#serve.getHandle(TEXT_GENERATOR);
    return prompts.map((prompt) => {
      const { requestId } = generator.remote(prompt, options);
      this.#sent.set(requestId, texts);
      return requestId;
    });
  }

  #follow(requests: ReadonlyMap<RequestId, RequestView>): void {
    for (const [id, texts] of this.#sent) {
      const request = requests.get(id);
      if (!request || isActive(request.status)) continue;
      this.#sent.delete(id);
      if (request.status === 'finished') this.#onFinished(request, texts);
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
    this.store.setState({
      document,
      ...(hasChanged && { followed: { ...followed, numChoices, isActive: isRunning } }),
      ...(request.error && { error: request.error }),
    });
  }
}

/** An empty prompt is as empty with other options; of all else they may be the cure. */
function withOtherOptions(error: WireError | undefined): WireError | undefined {
  return error === EMPTY_PROMPT ? error : undefined;
}

function describeOptionErrors(errors: GenerationErrors): WireError | undefined {
  const messages = Object.values(errors).filter((message) => message !== undefined);
  return messages.length > 0 ? { code: 'INVALID_OPTION', message: messages.join(' ') } : undefined;
}
