import { parseOrderedJson } from '../batching/base/ordered-json.ts';
import { isRecord } from '../platform/is-record.ts';
import type { RunRequest } from './row-runner.ts';
import { EMBEDDER, type Embedding } from '../protocol/embedding.ts';
import { type GenerationChoice, type GenerationResult, TEXT_GENERATOR } from '../protocol/generation.ts';
import { readCells } from '../protocol/job-cells.ts';
import { fillParts, parseTemplate } from '../protocol/job-template.ts';
import type { JobDefinition, JobResult, JobDeployment } from '../protocol/jobs.ts';
import { nameTokens, type TextOfToken } from '../protocol/openai/learned-texts.ts';
import { wrongJobRow, wrongJobBody } from '../protocol/errors/job-messages.ts';
import { readChatRequest } from '../protocol/openai/chat-request.ts';
import { readCompletionRequest } from '../protocol/openai/completion-request.ts';
import { readEmbeddingsRequest } from '../protocol/openai/embeddings-request.ts';
import type { GenerationRequest } from '../protocol/openai/generation-request.ts';
import { HttpError } from '../protocol/openai/http-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A row as a deployment takes it. The deployment checks the input and the values of the options. */
export interface RowRequest extends RunRequest {
  readonly deployment: JobDeployment;
  readonly options: Fields;
}

/** Reads a row, the text of a JSON object. @throws JobColumnError, JobRowError, PromptTooLongError. */
export type ReadRow = (seed: number, json: string) => RowRequest;

/** With the same seed, a row has the same text whenever it runs. */
export function rowReader(job: JobDefinition): ReadRow {
  if (job.source === 'requests')
    return (seed, json) => {
      const line = parseOrderedJson(json);
      const request = readRequest(isRecord(line) ? line : {});
      return request.deployment === EMBEDDER ? request : seeded(seed, request);
    };
  const { template = '', system, isChat, deployment, options } = job;
  const [parts, systemParts] = [parseTemplate(template), parseTemplate(system ?? '')];
  return (seed, json) => {
    const cells = readCells(json);
    if (!cells) throw wrongJobRow('row', 'a JSON object');
    const text = fillParts(parts, cells);
    if (deployment === EMBEDDER) return { deployment, input: text, options };
    const user = { role: 'user', content: text };
    const messages =
      system === undefined ? [user] : [{ role: 'system', content: fillParts(systemParts, cells) }, user];
    return seeded(seed, { deployment, input: isChat ? messages : text, options });
  };
}

function seeded(seed: number, { options, ...request }: RowRequest): RowRequest {
  return { ...request, options: { seed, ...options } };
}

/**
 * The answer of a deployment as a row's result.
 *
 * @param textOf The text of a token.
 */
export function toResult({ source }: JobDefinition, answer: unknown, textOf: TextOfToken): JobResult {
  if (isGenerated(answer)) {
    const { generatedText, finishReason, choiceProbabilities, choices, logprobs } = answer;
    const { numPromptTokens, numOutputTokens } = answer.usage;
    const { content = generatedText, toolCalls = [] } = answer.answer ?? {};
    return {
      text: content,
      finishReason,
      ...(choiceProbabilities && { choiceProbabilities }),
      ...(source === 'requests'
        ? { choices: choices.map((choice) => toChoice(choice, textOf)) }
        : {
            ...(logprobs && !choiceProbabilities && { logprobs: nameTokens(logprobs, textOf) }),
            ...(toolCalls.length > 0 && { toolCalls }),
          }),
      numPromptTokens,
      numOutputTokens,
    };
  }
  const embeddings: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  const vectors = embeddings.filter(isEmbedding);
  const [first] = vectors;
  return {
    ...(first && { embedding: [...first.embedding] }),
    ...(Array.isArray(answer) && { embeddings: vectors.map(({ embedding }) => [...embedding]) }),
    numPromptTokens: vectors.reduce((sum, { numTokens }) => sum + numTokens, 0),
    numOutputTokens: 0,
  };
}

function toChoice({ generatedText, finishReason, answer, logprobs }: GenerationChoice, textOf: TextOfToken) {
  return {
    text: generatedText,
    finishReason,
    ...(answer && { answer }),
    ...(logprobs && { logprobs: nameTokens(logprobs, textOf) }),
  };
}

export function isGenerated(answer: unknown): answer is GenerationResult {
  return isRecord(answer) && 'choices' in answer;
}

function isEmbedding(answer: unknown): answer is Embedding {
  return isRecord(answer) && 'embedding' in answer;
}

/** Reads a line of an OpenAI batch file, whose body the HTTP API would take. @throws JobRowError. */
function readRequest({ custom_id: customId, method, url, body }: Fields): RowRequest {
  if (typeof customId !== 'string') throw wrongJobRow('custom_id', 'a text');
  if (method !== 'POST') throw wrongJobRow('method', 'POST');
  if (!isRecord(body)) throw wrongJobRow('body', 'an object');
  if (body['stream'] === true) throw wrongJobRow('body.stream', 'false');
  try {
    return withoutDetails(readBody(url, body));
  } catch (error) {
    throw error instanceof HttpError ? wrongJobBody(error.message) : error;
  }
}

function readBody(url: unknown, body: Fields): RowRequest {
  switch (url) {
    case '/v1/completions':
      return onePrompt(readCompletionRequest(body));
    case '/v1/chat/completions':
      return onePrompt(readChatRequest(body));
    case '/v1/embeddings': {
      const { input, options } = readEmbeddingsRequest(body);
      return { deployment: EMBEDDER, input, options };
    }
    // The deployment's own input and options.
    case TEXT_GENERATOR:
    case EMBEDDER: {
      const { input, options = {} } = body;
      if (isRecord(options)) return { deployment: url, input, options };
      throw wrongJobRow('body.options', 'an object');
    }
    default:
      throw wrongJobRow('url', '/v1/completions, /v1/chat/completions or /v1/embeddings');
  }
}

/** @throws JobRowError for options whose outcome a result has no place for. */
function withoutDetails(request: RowRequest): RowRequest {
  for (const name of ['promptLogprobs', 'echo'] as const) {
    const value = request.options[name];
    if (value !== undefined && value !== false)
      throw wrongJobBody(`\`${name}\` isn't for jobs, whose results have no place for it.`);
  }
  return request;
}

function onePrompt({ prompts: [input, ...others], options }: GenerationRequest): RowRequest {
  if (others.length > 0) throw wrongJobRow('body.prompt', 'one prompt');
  return { deployment: TEXT_GENERATOR, input, options: { ...options } };
}
