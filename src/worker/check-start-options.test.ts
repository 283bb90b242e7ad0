import { expect, it, vi } from 'vitest';
import { checkStartOptions } from './check-start-options.ts';

const echo = {
  name: 'echo',
  checkInput: (input: unknown) => input,
  handler: (inputs: readonly unknown[]) => Promise.resolve(inputs),
};

class Shout {
  readonly name = 'shout';
  readonly marks = '!';

  checkInput(input: unknown): unknown {
    return input;
  }

  handler(inputs: readonly unknown[]): Promise<readonly unknown[]> {
    return Promise.resolve(inputs);
  }
}

it('takes deployments of different names, also one of a class, which has fields of its own', () => {
  vi.stubGlobal('self', { location: { href: 'https://host/worker.js' } });
  const other = { ...echo, name: 'other', batchOptions: { maxBatchSize: 2 } };
  const options = { deployments: [echo, other, new Shout()], runtimeUrl: './ort/', prepare: async () => {} };
  expect(() => checkStartOptions(options)).not.toThrow();
  expect(() => checkStartOptions({ deployments: undefined })).not.toThrow();
});

it.each([
  ['options', null],
  ['`deployment`', { deployment: [echo] }],
  ['`prepare`', { prepare: 5 }],
  ['`runtimeUrl`', { runtimeUrl: 5 }],
  ['`deployments`', { deployments: echo }],
  ['`deployments[0]`', { deployments: [() => echo] }],
  ['`deployments[1].name`', { deployments: [echo, { ...echo }] }],
  ['`deployments[0].name`', { deployments: [{ ...echo, name: '' }] }],
  ...['text-generator', 'embedder', 'reranker'].map(
    (name) => ['`deployments[0].name`', { deployments: [{ ...echo, name }] }] as const,
  ),
  ['`deployments[0].checkInput`', { deployments: [{ ...echo, checkInput: undefined }] }],
  ['`deployments[0].handler`', { deployments: [{ ...echo, handler: 'x' }] }],
  ['`deployments[0].batchOption`', { deployments: [{ ...echo, batchOption: {} }] }],
  [
    '`deployments[0].batchOptions`: Unknown option `size`',
    { deployments: [{ ...echo, batchOptions: { size: 1 } }] },
  ],
] as const)('refuses by name: %s', (named, options) => {
  const refuse = (): void => checkStartOptions(options);
  expect(refuse).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^(?:INVALID|UNKNOWN)_OPTION$/) }),
  );
  expect(refuse).toThrow(named);
});
