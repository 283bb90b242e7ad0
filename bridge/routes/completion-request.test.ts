import { expect, it } from 'vitest';

import { InvalidOptionError, UnknownOptionError } from '../../src/batching/errors.ts';
import { inOpenAiNames } from './completion-request.ts';

it.each([
  ['maxNewTokens', 'max_tokens', 'Expected `max_tokens` to be a number, got'],
  ['logitBias[262]', 'logit_bias', 'Expected `logit_bias[262]` to be a number, got'],
  ['n', 'n', 'Expected `n` to be a number, got'],
])('tells the option %s by the name that the client knows', (ours, theirs, message) => {
  expect(inOpenAiNames(InvalidOptionError.of(ours, 'a number', 500))).toMatchObject({
    status: 400,
    param: theirs,
    message: expect.stringContaining(message),
  });
});

it('leaves any other error as it is', () => {
  for (const error of [
    InvalidOptionError.of('prompt[3]', 'a token', 'x'),
    new UnknownOptionError('Unknown option `n`'),
    new Error('Expected `n` to be'),
    undefined,
  ])
    expect(inOpenAiNames(error)).toBe(error);
});
