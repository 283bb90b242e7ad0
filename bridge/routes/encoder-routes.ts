import * as v from 'valibot';
import type { TabserveClient } from '../../src/client/client.ts';
import { EMBEDDER, MAX_TEXTS, RERANKER, type Embedding } from '../../src/protocol/embedding.ts';
import type { AnswerBody, Exchange, RequestContext } from '../http/exchange.ts';
import { positive, readEmbeddingsRequest, text } from '../../src/protocol/openai/embeddings-request.ts';
import { inApiNames, type RequestNames } from '../../src/protocol/openai/generation-request.ts';
import { packOrderedValue } from '../../src/protocol/wire-text.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { parseBody, readFields } from '../../src/protocol/openai/fields.ts';
import { writeOrderedJson } from '../../src/batching/base/ordered-json.ts';
import { isRecord } from '../../src/platform/is-record.ts';
import { readJson } from '../http/read-body.ts';
import { workRoute, type Route } from '../http/router.ts';

const document = v.union([text, v.object({ text })], 'a text, or an object with a text');

const rerankRequest = v.object({
  model: v.optional(text),
  query: text,
  documents: v.pipe(
    v.array(document, 'a list of documents'),
    v.maxLength(MAX_TEXTS, `a list of at most ${MAX_TEXTS} documents`),
  ),
  top_n: positive,
  return_documents: v.optional(v.boolean('true or false'), false),
  truncate: v.optional(v.boolean('true or false'), true),
});

const TEXTS = `a text, or a list of 1 to ${MAX_TEXTS} texts`;
const list = v.pipe(v.array(text), v.minLength(1, TEXTS), v.maxLength(MAX_TEXTS, TEXTS));
const texts = v.union([text, list], TEXTS);

const scoreRequest = v.object({
  model: v.optional(text),
  text_1: texts,
  text_2: texts,
  truncate: v.optional(v.boolean('true or false'), false),
});

/** `POST /v1/embeddings` as OpenAI's, `POST /v1/score` and `/score` as vLLM's, and `POST /v1/rerank` and `/rerank` as Cohere's and Jina's. */
export function encoderRoutes(serve: TabserveClient): readonly Route[] {
  const answer = embeddingsAnswer(serve);
  const rerank = (exchange: Exchange): Promise<void> => answerRerank(serve, exchange);
  const score = (exchange: Exchange): Promise<void> => answerScore(serve, exchange);
  return [
    workRoute('/v1/embeddings', async (exchange) =>
      exchange.sendJson(200, await answer(await readJson(exchange.request), exchange)),
    ),
    workRoute('/v1/rerank', rerank),
    workRoute('/rerank', rerank),
    workRoute('/v1/score', score),
    workRoute('/score', score),
  ];
}

/** The answer of `POST /v1/embeddings`. */
export function embeddingsAnswer(serve: TabserveClient): AnswerBody {
  return async (body, context) => {
    const asked = readEmbeddingsRequest(body);
    const embeddings = await embed(serve, context, asked);
    return {
      object: 'list',
      data: embeddings.map(({ embedding }, index) => ({
        object: 'embedding',
        index,
        embedding: asked.isBase64 ? toBase64(embedding) : [...embedding],
      })),
      model: modelOf(serve, EMBEDDER) ?? asked.model,
      usage: usageOf(embeddings.reduce((sum, { numTokens }) => sum + numTokens, 0)),
    };
  };
}

const RERANK_NAMES = new Map([
  ['query', 'query'],
  ['documents', 'documents'],
  ['topN', 'top_n'],
]);

interface AskedEmbedding {
  readonly model: string | undefined;
  readonly user?: string | undefined;
  /** The worker checks it, and the options. */
  readonly input: unknown;
  readonly options: object;
}

/**
 * The embeddings of a text or a list of texts.
 *
 * @param field The endpoint's name of the input.
 * @throws HttpError 404 for another model, or an error of the worker.
 */
export async function embed(
  serve: TabserveClient,
  context: RequestContext,
  { model, user, input, options }: AskedEmbedding,
  field = 'input',
): Promise<readonly Embedding[]> {
  checkModel(serve, context, EMBEDDER, model);
  const handle = serve.getHandle<unknown, Embedding | readonly Embedding[]>(
    EMBEDDER as string,
    context.turnOf(user),
  );
  // The embedder's option `prompt` is no text.
  const names = new Map([
    ['prompt', 'prompt'],
    ['input', field],
  ]);
  const answer = await named({ input: field, names }, () =>
    handle.remote(packOrderedValue(input), { ...options, signal: context.signal }),
  );
  return 'embedding' in answer ? [answer] : answer;
}

async function answerRerank(serve: TabserveClient, exchange: Exchange): Promise<void> {
  const body = readFields(await readJson(exchange.request));
  const asked = parseBody(rerankRequest, body);
  // The answer repeats them with all their fields, as they were written.
  const sent = Array.isArray(body['documents']) ? body['documents'] : [];
  checkModel(serve, exchange, RERANKER, asked.model);
  const documents = asked.documents.map((given) => (typeof given === 'string' ? given : given.text));
  const ranker = serve.getHandle(RERANKER, exchange.turnOf());
  const options = { topN: asked.top_n, truncate: asked.truncate, signal: exchange.signal };
  const { results, numTokens } = await named({ input: 'documents', names: RERANK_NAMES }, () =>
    ranker.remote({ query: asked.query, documents }, options),
  );
  const answer = {
    id: exchange.requestId,
    model: modelOf(serve, RERANKER) ?? asked.model,
    results: results.map(({ index, score, isTruncated }) => ({
      index,
      relevance_score: score,
      is_truncated: isTruncated,
      ...(asked.return_documents && { document: documentOf(sent[index]) }),
    })),
    usage: usageOf(numTokens),
  };
  exchange.sendJson(200, answer, writeOrderedJson);
}

function documentOf(sent: unknown): object {
  return isRecord(sent) ? sent : { text: sent };
}

/** One text with each of a list, or the texts of two lists in pairs. */
async function answerScore(serve: TabserveClient, exchange: Exchange): Promise<void> {
  const asked = parseBody(scoreRequest, await readJson(exchange.request));
  checkModel(serve, exchange, RERANKER, asked.model);
  const { truncate } = asked;
  const [first, second] = [[asked.text_1].flat(), [asked.text_2].flat()];
  const [query = ''] = first;
  if (first.length !== 1 && first.length !== second.length)
    throw HttpError.expected('text_1', 'one text, or as many as `text_2` has', String(first.length));
  const pairs = second.map((other, index) => ({ query: first[index] ?? '', documents: [other] }));
  const isOne = first.length === 1;
  const ranker = serve.getHandle(RERANKER, exchange.turnOf());
  const answers = await Promise.all(
    (isOne ? [{ query, documents: second }] : pairs).map((pair, index) =>
      named(scoreNames(asked, isOne ? undefined : index), () =>
        ranker.remote(pair, { truncate, signal: exchange.signal }),
      ),
    ),
  );
  const scores = answers.flatMap(({ results }) => results.toSorted((a, b) => a.index - b.index));
  exchange.sendJson(200, {
    id: `score-${exchange.requestId}`,
    object: 'list',
    created: exchange.createdAt,
    model: modelOf(serve, RERANKER) ?? asked.model,
    data: scores.map(({ score }, index) => ({ index, object: 'score', score })),
    usage: usageOf(answers.reduce((sum, { numTokens }) => sum + numTokens, 0)),
  });
}

/** @param index Of the pair, where texts are compared in pairs. */
function scoreNames(
  { text_1: first, text_2: second }: v.InferOutput<typeof scoreRequest>,
  index: number | undefined,
): RequestNames {
  const query = Array.isArray(first) ? `text_1[${index ?? 0}]` : 'text_1';
  const isAll = index === undefined && Array.isArray(second);
  const input = index === undefined ? 'text_2' : `text_2[${index}]`;
  const names = [['query', query] as const, [isAll ? 'documents' : 'documents[0]', input] as const];
  return { input, names: new Map(names) };
}

/** Words the worker's error as the endpoint does. */
async function named<Answer>(names: RequestNames, ask: () => PromiseLike<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw inApiNames(error, names);
  }
}

/** A worker that has taken over names its model only after the first request for it. */
function checkModel(
  serve: TabserveClient,
  context: RequestContext,
  deployment: string,
  asked: string | undefined,
): void {
  const served = modelOf(serve, deployment);
  if (served !== undefined) context.checkModel(asked, served);
}

/** The name of an encoder; undefined while a worker that has taken over doesn't name it. */
export function modelOf(serve: TabserveClient, deployment: string): string | undefined {
  return serve.status().encoders?.find((encoder) => encoder.deployment === deployment)?.id;
}

function usageOf(numTokens: number): object {
  return { prompt_tokens: numTokens, total_tokens: numTokens };
}

/** Little-endian float32. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
