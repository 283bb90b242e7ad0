import type { Serve } from '../../src/worker/client/client.ts';
import type { GenerationOptions } from '../../src/worker/protocol/protocol.ts';
import { HttpError } from '../http/http-error.ts';
import { parseNumber, readQuery } from '../http/query.ts';
import { readInput, type Input } from '../http/read-input.ts';
import type { Route } from '../http/router.ts';

const NUMBERS = [
  'maxNewTokens',
  'temperature',
  'topK',
  'topP',
  'minP',
  'repetitionPenalty',
  'presencePenalty',
  'frequencyPenalty',
  'logprobs',
  'promptLogprobs',
  'minTokens',
  'n',
  'priority',
  'timeoutMs',
  'seed',
] as const satisfies readonly (keyof GenerationOptions)[];

const FLAGS = [
  'echo',
  'ignoreEos',
  'includeStopStrInOutput',
] as const satisfies readonly (keyof GenerationOptions)[];

/**
 * `/?text=…`, as the tutorials ask, by GET or POST. A POST may send the fields in its body instead. The answer is the text, or the
 * whole result as JSON for a client that accepts JSON.
 */
export function generateRoute(serve: Serve): Route {
  const generate: Route['methods']['GET'] = async (exchange) => {
    const { text, options } = readRequest(await readInput(exchange, 'text'));
    exchange.checkPriority(options['priority']);
    const { signal, request } = exchange;
    const result = await serve
      .getHandle('text-generator', exchange.callerOf())
      .remote(text, { ...options, signal })
      .result();
    if (request.headers.accept?.includes('application/json')) exchange.sendJson(200, result);
    else exchange.send(200, 'text/plain; charset=utf-8', result.text);
  };
  return {
    path: '/',
    methods: { GET: generate, POST: generate },
    isWork: true,
    isFor: ({ method }, { searchParams }) => method === 'POST' || searchParams.has('text'),
  };
}

function readRequest({ params, json: { text: jsonText, ...jsonOptions } }: Input) {
  const { text = jsonText, ...given } = readQuery(
    params,
    ['text', ...NUMBERS, ...FLAGS, 'logitBias', 'stopTokenIds'],
    ['stop'],
  );
  if (typeof text !== 'string') {
    const got = text === undefined ? 'nothing' : `\`${JSON.stringify(text).slice(0, 100)}\``;
    throw HttpError.invalid('text', `Expected \`text\` to be a prompt, got ${got}.`);
  }
  // The worker checks JSON values: they already have a type.
  return { text, options: { ...jsonOptions, ...readOptions(given, params.getAll('stop')) } };
}

/** Gives the texts of a query or a form the types that the options have. */
function readOptions(
  { logitBias, stopTokenIds, ...given }: Readonly<Record<string, string | undefined>>,
  stop: readonly string[],
): Readonly<Record<string, unknown>> {
  return {
    ...Object.fromEntries(
      NUMBERS.filter((name) => given[name] !== undefined).map((name) => [
        name,
        parseNumber(name, given[name]),
      ]),
    ),
    ...Object.fromEntries(
      FLAGS.flatMap((name) => {
        const value = given[name];
        return value === undefined ? [] : [[name, parseBoolean(name, value)]];
      }),
    ),
    ...(stop.length > 0 && { stop }),
    ...(stopTokenIds !== undefined && {
      stopTokenIds: stopTokenIds.split(',').map((id) => parseNumber('stopTokenIds', id)),
    }),
    ...(logitBias !== undefined && { logitBias: parseBias('logitBias', logitBias) }),
  };
}

function parseBoolean(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw HttpError.invalid(name, `Expected \`${name}\` to be true or false, got \`${text}\`.`);
}

/** `262:-100,13:5`: token ids and what is added to their logits. */
function parseBias(name: string, text: string): Readonly<Record<string, number>> {
  const entries = text.split(',').map((entry) => /^(\d+):(-?[\d.]+)$/.exec(entry));
  return Object.fromEntries(
    entries.map((match) => {
      const [, tokenId, bias] = match ?? [];
      if (tokenId !== undefined) return [tokenId, parseNumber(name, bias)];
      throw HttpError.invalid(name, `Expected \`${name}\` to be like 262:-100,13:5, got \`${text}\`.`);
    }),
  );
}
