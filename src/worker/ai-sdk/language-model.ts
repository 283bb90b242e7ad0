import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';

import { TEXT_GENERATOR, type GenerationResponse, type Prompt } from '../client/index.ts';
import { restartError, toCallError } from './errors.ts';
import type { ModelHost } from './model-host.ts';
import { PROVIDER, readSettings, warningsOf } from './read-settings.ts';
import { endOf, metadataOf } from './write-answer.ts';

/** An answer is one block of text. */
const BLOCK = '0';

/** A model of Tabserve, for `generateText`, `streamText` and what is built on them. Source: `LanguageModelV4` of the AI SDK. */
export class TabserveLanguageModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = PROVIDER;
  readonly modelId: string;
  /** None: the model reads text only. */
  readonly supportedUrls = {};
  readonly #host: ModelHost;
  readonly #readPrompt: (prompt: LanguageModelV4Prompt) => Prompt;

  /** @param readPrompt What the worker is given of a prompt. */
  constructor(modelId: string, host: ModelHost, readPrompt: (prompt: LanguageModelV4Prompt) => Prompt) {
    this.modelId = modelId;
    this.#host = host;
    this.#readPrompt = readPrompt;
  }

  async doGenerate(call: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const startedAt = new Date();
    const response = await this.#submit(call);
    try {
      const result = await response.result();
      return {
        content: [{ type: 'text', text: result.generatedText }],
        ...endOf(result),
        response: metadataOf(response, startedAt),
        warnings: warningsOf(call),
      };
    } catch (error) {
      throw toCallError(error, call.abortSignal);
    }
  }

  async doStream(call: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const response = await this.#submit(call);
    const parts = this.#partsOf(response, call);
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      async pull(controller) {
        const { value, done } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => response.cancel(),
    });
    return { stream };
  }

  async #submit(call: LanguageModelV4CallOptions): Promise<GenerationResponse> {
    const { prompt, abortSignal: signal } = call;
    const input = this.#readPrompt(prompt);
    const options = { ...readSettings(call), ...(signal && { signal }) };
    const serve = await this.#host.open(this.modelId);
    signal?.throwIfAborted();
    const response = serve.getHandle(TEXT_GENERATOR).remote(input, options);
    try {
      // Errors in the call are told before the stream begins: the AI SDK retries only then.
      await response.accepted();
    } catch (error) {
      throw toCallError(error, signal);
    }
    return response;
  }

  async *#partsOf(
    response: GenerationResponse,
    call: LanguageModelV4CallOptions,
  ): AsyncGenerator<LanguageModelV4StreamPart> {
    const startedAt = new Date();
    yield { type: 'stream-start', warnings: warningsOf(call) };
    let hasText = false;
    try {
      for await (const { text, isRestart } of response) {
        if (isRestart && hasText) {
          response.cancel();
          throw restartError();
        }
        if (text === '') continue;
        if (!hasText) {
          yield { type: 'response-metadata', ...metadataOf(response, startedAt) };
          yield { type: 'text-start', id: BLOCK };
        }
        hasText = true;
        yield { type: 'text-delta', id: BLOCK, delta: text };
      }
      if (hasText) yield { type: 'text-end', id: BLOCK };
      else yield { type: 'response-metadata', ...metadataOf(response, startedAt) };
      yield { type: 'finish', ...endOf(await response.result()) };
    } catch (error) {
      yield { type: 'error', error: toCallError(error, call.abortSignal) };
    }
  }
}
