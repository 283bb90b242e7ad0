import { expect, it } from 'vitest';

import { createRequestId } from './ids.ts';
import { parseSequenceId, sequenceIdOf } from './sequence-id.ts';

it('names each continuation, and finds its request again', () => {
  const requestId = createRequestId();
  for (const index of [0, 1, 15]) {
    expect(parseSequenceId(sequenceIdOf(requestId, index))).toEqual({ requestId, index });
  }
  expect(sequenceIdOf(requestId, 0)).toBe(requestId);
});
