import type { GenerationResponse, TabserveClient } from '../../../src/client/index.ts';
import type { GenerationChoice, GenerationResult } from '../../../src/protocol/generation.ts';
import { packOrdered } from '../../../src/protocol/wire-text.ts';
import type { ServedModel } from '../../../src/protocol/models.ts';
import type { RequestContext } from '../../http/exchange.ts';
import { allOrNone } from '../../../src/platform/until-aborted.ts';
import { modelReplaced } from '../../http/http-errors.ts';
import { ChoiceStream, scoredTokensOf, type Piece, type TextFormat } from './choice-stream.ts';
import type { GenerationRequest } from '../../../src/protocol/openai/generation-request.ts';
import { TokenPlaces } from './token-places.ts';
import type { TokenTexts } from './token-texts.ts';

export interface AskedGeneration<Request extends GenerationRequest = GenerationRequest> {
  readonly serve: TabserveClient;
  readonly tokenTexts: TokenTexts;
  readonly context: RequestContext;
  readonly asked: Request;
}

/** The results of one request, whole or piece by piece, and the model that they come from. */
export class Generation<Content extends object> {
  readonly #given: AskedGeneration;
  readonly #format: TextFormat<Content>;
  /** The model that generated the first token. */
  #model: ServedModel | undefined;

  constructor(given: AskedGeneration, format: TextFormat<Content>) {
    this.#given = given;
    this.#format = format;
  }

  /** Known once there is a token. */
  get model(): ServedModel {
    if (!this.#model) throw new Error('An answer has a model once it has a token.');
    return this.#model;
  }

  results(): Promise<GenerationResult[]> {
    return this.#ask((response) => this.#resultOf(response));
  }

  /**
   * Calls `write` with each piece as it comes.
   *
   * @param onAccepted Called once for each prompt. An earlier refusal is answered with its own status.
   * @param onRestart Called where another model starts over: what was written is void.
   */
  stream(
    onAccepted: () => void,
    write: (piece: Piece<Content>) => void,
    onRestart = (): void => {},
  ): Promise<GenerationResult[]> {
    return this.#ask(async (response, index) => {
      await response.accepted();
      onAccepted();
      return this.#pass(response, index * this.#given.asked.numChoicesPerPrompt, write, onRestart);
    });
  }

  /** Log probabilities of a whole choice in the format's shape; null if none were asked for. */
  async logprobsOf(choice: GenerationChoice): Promise<object | null> {
    const { asked, tokenTexts } = this.#given;
    const scored = scoredTokensOf(choice, asked.options);
    if (!scored) return null;
    const { id } = this.model;
    const tokens = await tokenTexts.name(scored, id);
    const places = new TokenPlaces(tokenTexts, asked.options.echo ?? false);
    return this.#format.logprobsOf(tokens, () => places.take(tokens, id));
  }

  /** Submits the prompts together, and collects the result of `take` for each response. */
  #ask(
    take: (response: GenerationResponse, index: number) => Promise<GenerationResult>,
  ): Promise<GenerationResult[]> {
    const { serve, context, asked } = this.#given;
    const generator = serve.getHandle('text-generator', context.turnOf(asked.user));
    // The model's own number of continuations is no default of these APIs.
    const options = { n: asked.numChoicesPerPrompt, ...packOrdered(asked.options) };
    return allOrNone(context.signal, (signal) =>
      generator.remoteAll(asked.prompts, { ...options, signal }).map(take),
    );
  }

  async #resultOf(response: GenerationResponse): Promise<GenerationResult> {
    const result = await response.result();
    this.#setModel(response.model);
    return result;
  }

  async #pass(
    response: GenerationResponse,
    firstIndex: number,
    write: (piece: Piece<Content>) => void,
    onRestart: () => void,
  ): Promise<GenerationResult> {
    const { asked, tokenTexts } = this.#given;
    const format = this.#format;
    const choices = new ChoiceStream({ format, tokenTexts, options: asked.options, firstIndex });
    for await (const chunk of response) {
      if (chunk.isRestart) {
        this.#startOver();
        choices.restart();
        onRestart();
        continue;
      }
      const { model } = response;
      for (const piece of await choices.read(chunk, model?.id)) {
        this.#setModel(model);
        write(piece);
      }
    }
    return this.#resultOf(response);
  }

  /** @throws HttpError if the caller named another model, or another model generated the text so far. */
  #setModel(model: ServedModel | undefined): void {
    if (!model) throw new Error('A request has a token before a model has started it.');
    if (this.#model && this.#model.id !== model.id) throw modelReplaced();
    this.#given.context.checkModel(this.#given.asked.model, model.id);
    this.#model ??= model;
  }

  /** @throws HttpError if a part of the answer was sent, because it cannot be taken back. */
  #startOver(): void {
    if (this.#given.context.hasContent) throw modelReplaced();
    this.#model = undefined;
  }
}
