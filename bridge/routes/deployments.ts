import type { TabserveClient } from '../../src/client/client.ts';
import { isRecord } from '../../src/platform/is-record.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { MAX_INPUTS } from '../../src/protocol/wire.ts';
import { TEXT_GENERATOR } from '../../src/protocol/generation.ts';
import { packOrdered, packOrderedValue } from '../../src/protocol/wire-text.ts';
import { namingInput } from '../../src/protocol/wire-errors.ts';
import { readFields } from '../../src/protocol/openai/fields.ts';
import { checkUnrounded, parseUnrounded, readJson } from '../http/read-body.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import { ofListed } from '../http/to-http-error.ts';
import { checkSignal, parseNumber, readInput, readQuery } from '../http/read-input.ts';
import { workRoute, type Handle, type Route } from '../http/router.ts';
import { allOrNone } from '../../src/platform/until-aborted.ts';

/** Limit of one request. */
const MAX_HOUSES = 256;

/** `/adder?number=3` answers `4`, as the tutorial does. A POST may send the number in its body instead. */
export function adderRoute(serve: TabserveClient): Route {
  const add: Handle = async (exchange) => {
    const { params, json } = await readInput(exchange, 'number');
    const { number } = readFields(json, ['number']);
    checkUnrounded(json);
    const { number: text } = readQuery(params, ['number']);
    // The message quotes a JSON value that is no number.
    const given = text ?? (number === undefined ? undefined : JSON.stringify(number));
    const input = typeof number === 'number' ? number : parseNumber('number', given);
    const handle = serve.getHandle('adder', exchange.turnOf());
    exchange.sendJson(200, jsonAnswer(await handle.remote(input, { signal: exchange.signal })));
  };
  return { path: '/adder', isWork: true, methods: { GET: add, POST: add } };
}

/** `{ "features": […] }` or a list of such lists, as in the tutorial; `{ "predictions": […] }`, a price for each house. */
export function housePriceRoute(serve: TabserveClient): Route {
  return workRoute('/house-price', async (exchange) => {
    const { features } = readFields(await readJson(exchange.request, parseUnrounded), ['features']);
    if (!Array.isArray(features) || features.length === 0 || features.length > MAX_HOUSES) {
      const expected = `a list of numbers, or at most ${MAX_HOUSES} such lists`;
      throw HttpError.expected('features', expected);
    }
    const houses: readonly unknown[] = features.some(Array.isArray) ? features : [features];
    const handle = serve.getHandle<unknown, unknown>('house-price' as string, exchange.turnOf());
    const predictions = await allOrNone(exchange.signal, (signal) =>
      handle.remoteAll(houses, { signal }).map(listedAnswer),
    ).catch((error: unknown) => {
      throw ofListed(error, (place) => (houses === features ? `features[${place}]` : 'features'));
    });
    exchange.sendJson(200, { predictions });
  });
}

/**
 * `{ "input": …, "options": { … } }` to any deployment, and its answer; or `{ "instances": […] }`, and `{ "predictions": […] }` in
 * their order.
 */
export function deploymentRoute(serve: TabserveClient): Route {
  return workRoute('/deployments/*', async (exchange) => {
    const { request, rest, signal } = exchange;
    // The generator's schemas stay as they were written. The inputs of others are plain objects.
    const parse = rest === TEXT_GENERATOR ? undefined : parseUnrounded;
    const body = readFields(await readJson(request, parse), ['input', 'instances', 'options']);
    const { input, instances, options = {} } = body;
    if (!isRecord(options)) throw HttpError.invalid('options', 'Expected `options` to be an object.');
    exchange.checkPriority(options['priority']);
    const handle = serve.getHandle<unknown, unknown>(rest, exchange.turnOf());
    if (input === undefined && instances === undefined)
      throw HttpError.expected('input', 'a value, or null for a deployment that takes none', 'nothing');
    checkSignal(options);
    const packed = packOrdered(options);
    if (instances === undefined) {
      const response = handle.remote(packOrderedValue(input), { ...packed, signal });
      exchange.sendJson(200, jsonAnswer(await response.result()));
      return;
    }
    const items = readInstances(instances, input);
    const predictions = await allOrNone(signal, (each) =>
      handle.remoteAll(items.map(packOrderedValue), { ...packed, signal: each }).map(listedAnswer),
    ).catch((error: unknown) => {
      throw ofListed(error, (place) => `instances[${place}]`);
    });
    exchange.sendJson(200, { predictions });
  });
}

/** The answer to the input at this place of the list, which errors name. */
async function listedAnswer(response: { result(): Promise<unknown> }, place: number): Promise<unknown> {
  const answer = await response.result();
  return namingInput(place, () => jsonAnswer(answer));
}

/** @throws HttpError 400 */
function readInstances(instances: unknown, input: unknown): readonly unknown[] {
  if (input !== undefined)
    throw HttpError.invalid('instances', 'Expected `instances` without `input`: pass one of them.');
  if (!Array.isArray(instances) || instances.length === 0)
    throw HttpError.expected('instances', 'a list of at least one input');
  if (instances.length > MAX_INPUTS) {
    const message = `\`instances\` has ${instances.length} inputs: send at most ${MAX_INPUTS} in a request.`;
    throw HttpError.invalid('instances', message);
  }
  return instances;
}
