import * as v from 'valibot';
import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { parseOptions } from '../../../batching/base/parse-options.ts';
import { isWholeText } from '../../../batching/base/validate.ts';
import { isRecord } from '../../../platform/is-record.ts';
import type { Embedding, Ranking } from '../../../protocol/embedding.ts';
import {
  EMBEDDING_CHECKS,
  isSingleText,
  RERANK_CHECKS,
  requireList,
} from '../../../protocol/encoder-options.ts';
import type { ServerModel } from '../../../protocol/openai/server-model.ts';
import { badAnswer, notAtServer } from '../../../protocol/server-errors.ts';
import { count } from '../../../protocol/wire.ts';
import type { ServerHttp } from './server-http.ts';

interface EncoderRequest {
  readonly http: Pick<ServerHttp, 'shownUrl' | 'json'>;
  readonly server: ServerModel;
  /** The encoder's name. Left out, the name of the model that generates; another Tabserve knows its own. */
  readonly model: string | undefined;
  readonly input: unknown;
  readonly options: unknown;
  readonly signal: AbortSignal;
}

const usage = v.optional(v.nullable(v.object({ total_tokens: v.optional(count, 0) })));

const embeddings = v.object({
  data: v.array(v.object({ index: count, embedding: v.array(v.number()) })),
  usage,
});

const ranking = v.object({
  results: v.array(
    v.object({ index: count, relevance_score: v.number(), is_truncated: v.optional(v.boolean()) }),
  ),
  usage,
});

/** The vector of one text, or those of a list. */
export async function embed(request: EncoderRequest): Promise<Embedding | readonly Embedding[]> {
  const { http, server, input, signal } = request;
  const { truncate, ...options } = parseOptions('options', EMBEDDING_CHECKS, request.options);
  if (truncate) refuse(request, 'truncate', 'shorten the texts');
  for (const name of ['normalize', 'prompt'] as const)
    if (options[name] !== undefined && !server.isTabserve) refuse(request, name, 'leave it out');
  const isSingle = isSingleText(input);
  const texts = isSingle ? [input] : requireList('input', input);
  const body = { ...modelOf(request), input, encoding_format: 'float', ...options };
  const answer = v.safeParse(embeddings, await http.json('/v1/embeddings', body, signal));
  const rows = answer.success ? answer.output.data.toSorted((a, b) => a.index - b.index) : [];
  const dimensions = rows[0]?.embedding.length ?? 0;
  const isWhole = rows.every(({ index, embedding }, at) => index === at && embedding.length === dimensions);
  if (rows.length !== texts.length || !isWhole)
    throw badAnswer(http.shownUrl, `/v1/embeddings with something that is not ${texts.length} vectors`);
  // The server tells the tokens of all texts together.
  const numTokens = isSingle && answer.success ? (answer.output.usage?.total_tokens ?? 0) : 0;
  const vectors = new Float32Array(rows.length * dimensions);
  const list = rows.map(({ embedding }, row) => {
    const vector = vectors.subarray(row * dimensions, (row + 1) * dimensions);
    vector.set(embedding);
    return { embedding: vector, numTokens, isTruncated: false };
  });
  const [first] = list;
  return isSingle && first ? first : list;
}

/** Documents, best first. */
export async function rerank(request: EncoderRequest): Promise<Ranking> {
  const { http, server, input, signal } = request;
  const { topN, truncate = false } = parseOptions('options', RERANK_CHECKS, request.options);
  if (truncate && !server.isTabserve) refuse(request, 'truncate', 'shorten the documents');
  if (!isRecord(input)) throw InvalidOptionError.of('input', 'an object with query and documents', input);
  const query = isWholeText('query', input['query']);
  const documents = requireList('documents', input['documents']);
  const body = {
    ...modelOf(request),
    query,
    documents,
    ...(topN !== undefined && { top_n: topN }),
    ...(server.isTabserve && { truncate }),
  };
  const answer = v.safeParse(ranking, await http.json('/v1/rerank', body, signal));
  if (!answer.success || answer.output.results.some(({ index }) => index >= documents.length))
    throw badAnswer(http.shownUrl, '/v1/rerank with something that is not a ranking');
  const { results, usage: used } = answer.output;
  return {
    results: results
      .map(({ index, relevance_score: score, is_truncated: isTruncated }) => ({ index, score, isTruncated }))
      .toSorted((a, b) => b.score - a.score),
    numTokens: used?.total_tokens ?? 0,
  };
}

function modelOf({ model, server }: EncoderRequest): { readonly model?: string } {
  const name = model ?? (server.isTabserve ? undefined : server.modelId);
  return name === undefined ? {} : { model: name };
}

function refuse({ http }: EncoderRequest, option: string, remedy: string): never {
  throw notAtServer(http.shownUrl, `The option \`${option}\` of encoders is not taken by`, remedy);
}
