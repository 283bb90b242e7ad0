import * as v from 'valibot';

import { parseJson } from '../../src/platform/parse-json.ts';
import { record } from '../../src/protocol/wire.ts';
import { badAnswer, upstreamLacks } from '../http/http-errors.ts';

interface Shape {
  readonly schema: v.GenericSchema;
  /** How messages name the answer. */
  readonly name: string;
}

const modelCard = v.object({ id: v.string() });
const modelList = v.object({ data: v.array(modelCard) });
const completion = (choice: v.ObjectEntries): v.GenericSchema =>
  v.object({ choices: v.array(v.object(choice)) });

/** By path. Embeddings have none: they are too large to hold in memory. */
const SHAPES: Readonly<Record<string, Shape>> = {
  '/v1/models': { schema: modelList, name: 'a list of models' },
  '/v1/models/': { schema: modelCard, name: 'a model' },
  '/v1/completions': { schema: completion({ text: v.string() }), name: 'a completion' },
  '/v1/chat/completions': {
    schema: completion({ message: record }),
    name: 'a chat completion',
  },
  '/tokenize': { schema: v.object({ tokens: v.array(v.number()) }), name: 'a list of tokens' },
  '/detokenize': { schema: v.object({ prompt: v.string() }), name: 'a prompt' },
};

/** The shape of a success at this path, if it is checked. */
export function shapeOf(path: string): Shape | undefined {
  // The rest of `/v1/models/…` names one model.
  return SHAPES[path.startsWith('/v1/models/') ? '/v1/models/' : path];
}

/** OpenAI's shape, and the one of older versions of vLLM. */
const errorShape = v.union([v.object({ error: v.unknown() }), v.object({ message: v.string() })]);

/** Every OpenAI-compatible server has these. */
const ESSENTIAL: ReadonlySet<string> = new Set(['/v1/models', '/v1/completions']);

/**
 * Checks an answer that is a success, a 404 or a 405. An error in OpenAI's shape is a valid answer.
 *
 * @throws HttpError 502 for an upstream that is not OpenAI-compatible, 404 for one that lacks the path.
 */
export function checkAnswer(url: string, path: string, status: number, body: string): void {
  const answer = parseJson(body);
  if (status === 404 || status === 405) {
    if (v.is(errorShape, answer)) return;
    if (ESSENTIAL.has(path)) throw badAnswer(url, `${path} with HTTP status ${status}`);
    throw upstreamLacks(url, path);
  }
  const shape = shapeOf(path);
  if (shape && !v.is(shape.schema, answer))
    throw badAnswer(url, `${path} with something that is not ${shape.name}`);
}

/** The names of an upstream's models, in its order. @throws HttpError 502 for an answer that is not a list of models. */
export function readModelIds(url: string, status: number, body: string): readonly string[] {
  const parsed = v.safeParse(modelList, parseJson(body));
  if (parsed.success) return parsed.output.data.map(({ id }) => id);
  const what = status === 200 ? 'something that is not a list of models' : `HTTP status ${status}`;
  throw badAnswer(url, `/v1/models with ${what}`);
}
