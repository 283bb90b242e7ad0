import { expect, it } from 'vitest';

import { completionLogprobs, promptLogprobs } from './logprobs.ts';

const tokens = [
  {
    tokenId: 9,
    text: 'am',
    logprob: -2,
    top: [
      { tokenId: 12, text: 'is', logprob: -0.5 },
      { tokenId: 5, text: '3', logprob: -1 },
    ],
  },
];

it('the likeliest tokens come first, also where a token is a number', () => {
  expect(JSON.stringify(completionLogprobs(tokens, [0]).top_logprobs)).toBe('[{"is":-0.5,"3":-1,"am":-2}]');
  expect(Object.keys(promptLogprobs(tokens)[0] ?? {})).toEqual(['12', '5', '9']);
});
