import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4ResponseMetadata,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { GenerationResponse, Prompt, AnswerPart } from '../index.ts';
import { codeOf, replacedError, toCallError } from './errors.ts';
import type { OpenModel } from './model-opener.ts';
import { PROVIDER, readSettings, warningsOf } from './read-settings.ts';
import { contentOf, endOf, failedEndOf } from './write-answer.ts';

/** A model of Tabserve, for `generateText`, `streamText` and functions built on them. Source: `LanguageModelV4` of the AI SDK. */
export class TabserveLanguageModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = PROVIDER;
  readonly modelId: string;
  /** All: the AI SDK would download a file that the call then refuses. */
  readonly supportedUrls = { '*/*': [/./] };
  readonly #open: OpenModel;
  readonly #readPrompt: (prompt: LanguageModelV4Prompt) => Prompt;

  /** @param readPrompt Makes the worker's input from a prompt. */
  constructor(modelId: string, open: OpenModel, readPrompt: (prompt: LanguageModelV4Prompt) => Prompt) {
    this.modelId = modelId;
    this.#open = open;
    this.#readPrompt = readPrompt;
  }

  async doGenerate(call: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const startedAt = new Date();
    const { response } = await this.#submit(call);
    try {
      const result = await response.result();
      return {
        content: contentOf(result),
        ...endOf(result),
        response: this.#metadataOf(response, startedAt),
        warnings: warningsOf(call),
      };
    } catch (error) {
      throw toCallError(error, call.abortSignal);
    }
  }

  async doStream(call: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const { response } = await this.#submit(call);
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

  /** In an object: a promise would wait for the result of a response by itself. */
  async #submit(call: LanguageModelV4CallOptions): Promise<{ readonly response: GenerationResponse }> {
    const { prompt, abortSignal: signal } = call;
    const input = this.#readPrompt(prompt);
    const options = { ...readSettings(call), ...(signal && { signal }) };
    const { serve } = await this.#open(this.modelId, 'text-generator', signal);
    const response = serve.generate(input, options);
    try {
      // Errors in the call are thrown before the stream begins: the AI SDK retries only then.
      await response.accepted();
    } catch (error) {
      throw toCallError(error, call.abortSignal);
    }
    return { response };
  }

  async *#partsOf(
    response: GenerationResponse,
    call: LanguageModelV4CallOptions,
  ): AsyncGenerator<LanguageModelV4StreamPart> {
    const startedAt = new Date();
    const blocks = new StreamBlocks();
    let hasBegun = false;
    yield { type: 'stream-start', warnings: warningsOf(call) };
    try {
      for await (const chunk of response) {
        if (call.includeRawChunks) yield { type: 'raw', rawValue: chunk };
        if (chunk.isRestart && hasBegun) throw replacedError();
        const parts =
          chunk.parts ?? (chunk.text === '' ? [] : [{ type: 'content', text: chunk.text } as const]);
        if (parts.length === 0) continue;
        if (!hasBegun) yield { type: 'response-metadata', ...this.#metadataOf(response, startedAt) };
        hasBegun = true;
        for (const part of parts) yield* blocks.push(part);
      }
      const result = await response.result();
      yield* blocks.end();
      if (!hasBegun) yield { type: 'response-metadata', ...this.#metadataOf(response, startedAt) };
      yield { type: 'finish', ...endOf(result) };
    } catch (cause) {
      const error = toCallError(cause, call.abortSignal);
      // As the body of an aborted fetch.
      if (call.abortSignal?.aborted) throw error;
      yield* blocks.end(true);
      yield { type: 'error', error };
      yield { type: 'finish', ...failedEndOf(codeOf(error)) };
    }
  }

  /** @throws APICallError if another tab has loaded another model in the meantime. */
  #metadataOf(response: GenerationResponse, startedAt: Date): LanguageModelV4ResponseMetadata {
    const { requestId, model } = response;
    if (model && model.id !== this.modelId) throw replacedError();
    return { id: requestId, timestamp: startedAt, modelId: this.modelId };
  }
}

type Parts = Generator<LanguageModelV4StreamPart>;
type Block =
  | { readonly type: 'text' | 'reasoning'; readonly id: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; input: string };

/** Turns the parts of an answer into those of the AI SDK: blocks of text and of reasoning, and calls of tools. */
class StreamBlocks {
  #open: Block | undefined;
  #numBlocks = 0;

  *push(part: AnswerPart): Parts {
    if (part.type === 'tool-call') {
      yield* this.end();
      const { id, name } = part;
      this.#open = { type: 'call', id, name, input: '' };
      yield { type: 'tool-input-start', id, toolName: name };
    } else if (part.type === 'tool-arguments') {
      if (this.#open?.type !== 'call') return;
      this.#open.input += part.text;
      yield { type: 'tool-input-delta', id: this.#open.id, delta: part.text };
    } else yield* this.#pushText(part.type === 'content' ? 'text' : 'reasoning', part.text);
  }

  /** Ends the open block. @param hasFailed The answer breaks off, so its last call isn't one. */
  *end(hasFailed = false): Parts {
    const block = this.#open;
    this.#open = undefined;
    if (block?.type !== 'call') {
      if (block) yield { type: `${block.type}-end`, id: block.id };
      return;
    }
    const { id, name, input } = block;
    yield { type: 'tool-input-end', id };
    if (!hasFailed) yield { type: 'tool-call', toolCallId: id, toolName: name, input };
  }

  *#pushText(type: 'text' | 'reasoning', delta: string): Parts {
    if (this.#open?.type !== type) {
      yield* this.end();
      this.#open = { type, id: String(this.#numBlocks) };
      this.#numBlocks += 1;
      yield { type: `${type}-start`, id: this.#open.id };
    }
    yield { type: `${type}-delta`, id: this.#open.id, delta };
  }
}
