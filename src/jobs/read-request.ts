import { isRecord } from '../platform/is-record.ts';
import { EMBEDDER } from '../protocol/embedding.ts';
import { TEXT_GENERATOR } from '../protocol/generation.ts';
import type { JobDeployment } from '../protocol/jobs.ts';
import { readChatRequest } from '../protocol/openai/chat-request.ts';
import { readCompletionRequest } from '../protocol/openai/completion-request.ts';
import { readEmbeddingsRequest } from '../protocol/openai/embeddings-request.ts';
import type { GenerationRequest } from '../protocol/openai/generation-request.ts';
import { HttpError } from '../protocol/openai/http-error.ts';
import { wrongJobBody, wrongJobRow } from '../protocol/errors/job-messages.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A row as a deployment takes it. The deployment checks the input and the values of the options. */
export interface RowRequest {
  readonly deployment: JobDeployment;
  readonly input: unknown;
  readonly options: Fields;
}

/** Reads a line of an OpenAI batch file, whose body the HTTP API would take. @throws JobRowError. */
export function readRequest({ custom_id: customId, method, url, body }: Fields): RowRequest {
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
