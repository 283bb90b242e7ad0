import type { Serve } from '../../src/worker/client/client.ts';
import { isRecord } from '../../src/worker/platform/is-record.ts';
import { HttpError } from '../http/http-error.ts';
import { parseNumber, readQuery } from '../http/query.ts';
import { readInput } from '../http/read-input.ts';
import { readJson } from '../http/read-json.ts';
import type { Handle, Route } from '../http/router.ts';

/** Limit of one request. */
const MAX_HOUSES = 256;

/** `/adder?number=3` answers `4`, as the tutorial does. A POST may send the number in its body instead. */
export function adderRoute(serve: Serve): Route {
  const add: Handle = async (exchange) => {
    const { params, json } = await readInput(exchange, 'number');
    const { number } = readFields(json, ['number']);
    const { number: text } = readQuery(params, ['number']);
    const input = typeof number === 'number' ? number : parseNumber('number', text ?? textOf(number));
    exchange.sendJson(
      200,
      await serve.getHandle('adder', exchange.callerOf()).remote(input, { signal: exchange.signal }),
    );
  };
  return { path: '/adder', isWork: true, methods: { GET: add, POST: add } };
}

/** A JSON value, as messages quote it. */
function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/** `{ "features": […] }` or a list of such lists, as in the tutorial; `{ "predictions": […] }`, a price for each house. */
export function housePriceRoute(serve: Serve): Route {
  return {
    path: '/house-price',
    isWork: true,
    methods: {
      async POST(exchange) {
        const { features } = readFields(await readJson(exchange.request), ['features']);
        if (!Array.isArray(features) || features.length === 0 || features.length > MAX_HOUSES) {
          const expected = `a list of numbers, or at most ${MAX_HOUSES} such lists`;
          throw HttpError.invalid('features', `Expected \`features\` to be ${expected}.`);
        }
        const houses: readonly unknown[] = Array.isArray(features[0]) ? features : [features];
        const handle = serve.getHandle<unknown, unknown>('house-price' as string, exchange.callerOf());
        const predictions = await allOrNone(exchange.signal, (signal) =>
          handle.remoteAll(houses, { signal }).map((response) => response.result()),
        );
        exchange.sendJson(200, { predictions });
      },
    },
  };
}

/** `{ "input": …, "options": { … } }` to any deployment, and its answer. */
export function deploymentRoute(serve: Serve): Route {
  return {
    path: '/deployments/*',
    isWork: true,
    methods: {
      async POST(exchange) {
        const { request, rest, signal } = exchange;
        const { input, options = {} } = readFields(await readJson(request), ['input', 'options']);
        if (!isRecord(options)) throw HttpError.invalid('options', 'Expected `options` to be an object.');
        exchange.checkPriority(options['priority']);
        const handle = serve.getHandle<unknown, unknown>(rest, exchange.callerOf());
        const response = handle.remote(input, { ...options, signal });
        exchange.sendJson(200, (await response.result()) ?? null);
      },
    },
  };
}

/** All results, or the first failure, which cancels the others. */
export async function allOrNone<Result>(
  outer: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<Result>[],
): Promise<Result[]> {
  const controller = new AbortController();
  try {
    return await Promise.all(start(AbortSignal.any([outer, controller.signal])));
  } finally {
    controller.abort();
  }
}

/** @throws HttpError 400 for a value that is not an object, and for unknown fields. */
export function readFields(body: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isRecord(body)) throw HttpError.invalid('body', 'Expected the body to be a JSON object.');
  for (const name of Object.keys(body)) if (!known.includes(name)) throw HttpError.unknown(name, known);
  return body;
}
