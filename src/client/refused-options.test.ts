import { describe, expect, it } from 'vitest';

import { clientId } from '../batching/generation/test-support.ts';
import type { GenerationOptions } from '../protocol/generation.ts';
import { TabserveClient } from './client.ts';

/** A client that waits for a worker. */
function createClient(): TabserveClient {
  return new TabserveClient(clientId('tab'), () => ({
    isolationReason: '',
    post: () => {},
    close: () => {},
  }));
}

/** As JavaScript may call it. */
function call(target: object, method: string, ...given: readonly unknown[]): unknown {
  const called: unknown = Reflect.get(target, method);
  if (typeof called !== 'function') throw new Error(`There is no ${method}.`);
  return Reflect.apply(called, target, given);
}

describe('a misspelt option is refused by its name', () => {
  it.each([
    ['loadModel', 'a/b', 'dtpye'],
    ['planModel', 'a/b', 'dtype'],
    ['ggufFiles', 'a/b', 'file'],
    ['searchModels', 'llama', 'revision'],
    ['deleteModel', 'a/b', 'forced'],
    ['tokenize', 'a', 'addSpecialToken'],
    ['tokenizeChat', [], 'tool'],
  ])('by %s', async (method, first, name) => {
    const serve = createClient();
    const refused = call(serve, method, first, { [name]: undefined, other: 1 });
    await expect(refused).rejects.toMatchObject({ code: 'UNKNOWN_OPTION', param: 'other' });
    await expect(call(serve, method, first, { [name]: true })).rejects.toMatchObject({
      code: 'UNKNOWN_OPTION',
      param: name,
    });
  });

  it('by check', async () => {
    const refused = call(createClient(), 'check', { onprogress: () => {} });
    await expect(refused).rejects.toMatchObject({ code: 'UNKNOWN_OPTION', param: 'onprogress' });
  });
});

describe('result', () => {
  it('waits without a limit for null, as for no options', async () => {
    const serve = createClient();
    const response = serve.generate('a');
    const results = [call(response, 'result', null), call(response, 'result', {})];
    response.cancel();
    for (const result of results) await expect(result).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
  });

  it.each([
    ['INVALID_OPTION', 'options', 5],
    ['INVALID_OPTION', 'options', 'x'],
    ['UNKNOWN_OPTION', 'timeoutMS', { timeoutMS: 1 }],
    ['INVALID_OPTION', 'timeoutMs', { timeoutMs: null }],
  ])('rejects with %s `%s`', async (code, param, options) => {
    const response = createClient().generate('a');
    await expect(call(response, 'result', options)).rejects.toMatchObject({ code, param });
  });
});

it.each([Object.create(null), Symbol('status'), null, undefined, ['status'], 'Status'])(
  'subscribe refuses the topic %o by name',
  (topic) => {
    const subscribe = (): unknown => call(createClient(), 'subscribe', topic, () => {});
    expect(subscribe).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', param: 'topic' }));
  },
);

it('options that throw when they are read reject the response', async () => {
  const serve = createClient();
  const options: GenerationOptions = {
    get temperature(): number {
      throw new Error('boom');
    },
  };
  const refusal = { code: 'INVALID_OPTION', message: expect.stringContaining('boom') };
  await expect(serve.generate('a', options)).rejects.toMatchObject(refusal);
  const all = serve.getHandle<string, string>('upper-case').remoteAll(['a', 'b'], Object(options));
  for (const response of all) await expect(response).rejects.toMatchObject(refusal);
});

it.each([
  ['options.onToken', 'onToken', 'it is a function', { onToken: () => {} }],
  ['options.tools[0].execute', 'tools', 'it is a function', { tools: [{ name: 'a', execute: () => {} }] }],
  ['options.seed', 'seed', 'it is a symbol', { seed: Symbol('x') }],
  ['options.seed', 'seed', 'it is of the type Promise', { seed: Promise.resolve(1) }],
  ['options.stop', 'stop', 'it is no plain data, such as a Proxy', { stop: new Proxy(['a'], {}) }],
  ['options.stop[0]', 'stop', 'it is no plain data, such as a Proxy', { stop: [new Proxy({}, {})] }],
])('what no worker can read is refused by its place and kind: %s', async (place, param, reason, options) => {
  const message = `\`${place}\` can't be sent to the worker: ${reason}. Pass plain data.`;
  const response = call(createClient(), 'generate', 'a', options);
  await expect(response).rejects.toMatchObject({ code: 'INVALID_OPTION', param, message });
});

it('options that nobody can read are refused, and nothing is thrown', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  await expect(call(createClient(), 'generate', 'a', proxy)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
  });
});

it('the place in a cycle, and of a call, is named too', async () => {
  const knobs: Record<string, unknown> = { policy: 'static' };
  Object.assign(knobs, { self: knobs, onStep: () => {} });
  await expect(call(createClient(), 'configure', 'text-generator', knobs)).rejects.toThrow(
    "`knobs.onStep` can't be sent to the worker: it is a function.",
  );
});

it.each(['file', 'revision', 'hub'])(
  'loadModel refuses the option `%s` by name if it is no text',
  async (name) => {
    for (const value of [5, Symbol('x'), Object.create(null)])
      await expect(call(createClient(), 'loadModel', 'a/b', { [name]: value })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        param: name,
      });
  },
);
