import { describe, expect, it } from 'vitest';
import { createEngine, EOS, settle, type RequestOverrides } from './test-support.ts';

/** Counts up from the last prompt token, with the end token in every third place. */
function counting(history: readonly number[]): number {
  return history.length % 3 === 0 ? EOS : history.length;
}

async function finished(request: RequestOverrides) {
  const { submit, listener } = createEngine({ runner: { nextToken: counting } });
  submit('a', { promptTokenIds: [1], ...request });
  await settle();
  const [event] = listener.of('finished');
  return event && [event.finishReason, event.tokenIds, event.numOutputTokens];
}

describe('what ends a sequence', () => {
  it.each<readonly [string, RequestOverrides, unknown]>([
    ['the end token, which is no part of it', {}, ['stop', [1, 2], 3]],
    [
      'its length alone, where end tokens are tokens like any other',
      { ignoreEos: true, maxNewTokens: 6 },
      ['length', [1, 2, EOS, 4, 5, EOS], 6],
    ],
    ['a stop token, which is no part of it either', { stopTokenIds: [7, 2] }, ['stop', [1], 2]],
    [
      'a stop token, which is its last where it is to be kept',
      { stopTokenIds: [2], includeStopStrInOutput: true },
      ['stop', [1, 2], 2],
    ],
    [
      'the end token even where stop tokens are kept',
      { stopTokenIds: [9], includeStopStrInOutput: true },
      ['stop', [1, 2], 3],
    ],
    [
      'the end token as a stop token, where end tokens are ignored',
      { ignoreEos: true, stopTokenIds: [EOS] },
      ['stop', [1, 2], 3],
    ],
  ])('is %s', async (_, request, expected) => {
    expect(await finished({ maxNewTokens: 9, ...request })).toEqual(expected);
  });
});
