import { describe, expect, it, vi } from 'vitest';

import { createJob } from './create-job.ts';

/** As a caller without types gives them. */
function create(options: unknown): Promise<unknown> {
  return createJob(Object(options), () => Promise.reject(new Error('A bad job is not sent')), false);
}

const ROWS = [{ a: '1' }];

describe('jobs.create refuses by name', () => {
  it.each([
    ['no options', undefined, 'INVALID_OPTION', 'rows'],
    ['no rows', {}, 'INVALID_OPTION', 'rows'],
    ['rows that are no list', { rows: 5, template: '' }, 'INVALID_OPTION', 'rows'],
    ['rows that are a text', { rows: 'a', template: '' }, 'INVALID_OPTION', 'rows'],
    ['no template', { rows: ROWS }, 'INVALID_OPTION', 'template'],
    ['a template that is no text', { rows: ROWS, template: 3 }, 'INVALID_OPTION', 'template'],
    [
      'a system message that is no text',
      { rows: ROWS, template: '', system: {} },
      'INVALID_OPTION',
      'system',
    ],
    ['another deployment', { rows: ROWS, template: '', deployment: 'adder' }, 'INVALID_OPTION', 'deployment'],
    ['a misspelled option', { rows: ROWS, template: '', option: {} }, 'UNKNOWN_OPTION', 'option'],
    [
      'a shape of vectors',
      { rows: ROWS, template: '', deployment: 'embedder', chat: true },
      'UNKNOWN_OPTION',
      'chat',
    ],
    ['rows and requests', { rows: ROWS, template: '', requests: [] }, 'INVALID_OPTION', 'requests'],
    ['requests with a template', { requests: [{}], template: '' }, 'UNKNOWN_OPTION', 'template'],
    ['rows that can’t be opened', { rows: { [Symbol.iterator]: 5 }, template: '' }, 'INVALID_OPTION', 'rows'],
    [
      'rows that open as a number',
      { rows: { [Symbol.asyncIterator]: () => 5 }, template: '' },
      'INVALID_OPTION',
      'rows',
    ],
  ])('%s', async (_, options, code, param) => {
    await expect(create(options)).rejects.toMatchObject({ code, param });
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  it.each([
    ['INVALID_OPTION', 'signal', [{ signal: {} }, { signal: 5 }, { signal: 'x' }, { signal: null }]],
    ['INVALID_OPTION', 'onStored', [{ onStored: 5 }, { onStored: null }, { onStored: {} }]],
    [
      'INVALID_OPTION',
      'seed',
      [{ seed: -1 }, { seed: 2 ** 32 }, { seed: '1' }, { options: { seed: 2 ** 32 } }],
    ],
    [
      'INVALID_OPTION',
      'options',
      [5, false, null, 'x', [], () => {}, Symbol('x')].flatMap((options) => [
        { options },
        { options, deployment: 'embedder' },
      ]),
    ],
    ['INVALID_OPTION', 'responseFormat', [{ responseFormat: '' }, { responseFormat: null }]],
    ['INVALID_OPTION', 'temperature', [{ options: { temperature: 'hot' } }]],
    ['UNKNOWN_OPTION', 'temprature', [{ options: { temprature: 1 } }]],
    ['INVALID_OPTION', 'normalize', [{ deployment: 'embedder', options: { normalize: 5 } }]],
    ['UNKNOWN_OPTION', 'foo', [{ deployment: 'embedder', options: { foo: 1 } }]],
    ['UNKNOWN_OPTION', 'self', [{ deployment: 'embedder', options: cycle }]],
  ])('%s `%s`, before it asks for a row', async (code, param, wrong) => {
    const next = vi.fn<() => IteratorResult<unknown>>(() => ({ done: true, value: undefined }));
    for (const given of wrong) {
      const rows = { [Symbol.iterator]: () => ({ next }) };
      await expect(create({ rows, template: '', ...given })).rejects.toMatchObject({ code, param });
    }
    expect(next).not.toHaveBeenCalled();
  });

  it.each([
    [{ rows: [{ a: 1, price: Infinity }] }, '`rows[0].price` is Infinity (number)'],
    [{ rows: [{ a: 1, price: { net: [Number.NaN] } }] }, '`rows[0].price` is NaN (number)'],
    [{ rows: [{ a: 1n }] }, '`rows[0].a` is 1 (bigint)'],
    [{ rows: [{ a: () => 1 }] }, '`rows[0].a` is () => 1 (function)'],
    [{ rows: [{ a: new Map([[1, 2]]) }] }, '`rows[0].a` is [object Map] (object)'],
    [{ rows: [{ a: { b: [Float32Array.of(1, 2)] } }] }, '`rows[0].a` is 1,2 (object)'],
    [{ rows: [{ a: new ArrayBuffer(1) }] }, '`rows[0].a` is [object ArrayBuffer] (object)'],
    [{ rows: [{ a: new Date(Number.NaN) }] }, '`rows[0].a` is Invalid Date (object)'],
    [{ rows: [new Map([['a', 1]])] }, '`rows[0]` is [object Map] (object)'],
    [{ rows: [5] }, 'Expected `rows[0]` to be an object of JSON values'],
    [{ requests: [{ body: { seed: 1n } }], template: undefined }, '`requests[0].body` is 1 (bigint)'],
  ])('what JSON hasn’t, by its row and column: %o', async (given, message) => {
    await expect(create({ template: '{{a}}', ...given })).rejects.toMatchObject({
      code: 'JOB_ROW_INVALID',
      message: expect.stringContaining(message),
    });
  });
});
