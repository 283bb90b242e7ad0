import { describe, expect, it } from 'vitest';
import type { TokenConstraint } from '../../batching/generation/request.ts';
import { isAllowed } from '../../batching/sampling/token-mask.ts';
import { ByteTextStream } from '../models/tokenizer/text-stream.ts';
import { createRequestId } from '../../protocol/ids.ts';
import { Choice, constraintOf } from './choice.ts';

const TOKENS = { vocabSize: 40, endTokenIds: [0, 33] };

/** Its tokens are the letters of `abc…`. */
function createChoice(stop: readonly string[] = []): Choice {
  return new Choice({
    index: 0,
    sequenceId: createRequestId(),
    seed: 0,
    stream: new ByteTextStream((tokenId) => Uint8Array.of(97 + tokenId)),
    ending: {
      stop: [...stop],
      stopTokenIds: [],
      includeStopStrInOutput: false,
      ignoreEos: false,
      minTokens: 0,
    },
    hasLogprobs: false,
    isReadAtEnd: false,
    parser: undefined,
  });
}

describe('the constraint of a choice', () => {
  it('masks no token and stops at a stop string', () => {
    const constraint = constraintOf(createChoice(['bc']), 0, TOKENS);
    expect(constraint.mask).toBeUndefined();
    expect([1, 2].map((tokenId) => constraint.accept(tokenId))).toEqual([false, true]);
  });

  it('masks the tokens that would end it until it has its least length, with those it was resumed with', () => {
    const choice = createChoice();
    choice.resume({ tokenIds: [5] });
    const constraint = constraintOf(choice, 3, TOKENS);
    const allowed = (): readonly number[] =>
      Array.from({ length: 40 }, (_, id) => id).filter((id) => {
        const mask = constraint.mask?.();
        return !mask || isAllowed(mask, id);
      });
    expect(allowed()).toEqual(
      Array.from({ length: 40 }, (_, id) => id).filter((id) => id !== 0 && id !== 33),
    );
    const ahead = constraint.ahead?.()?.after(6);
    expect([ahead?.mask, ahead?.after(7)?.mask]).toEqual([constraint.mask?.(), undefined]);
    for (const tokenId of [6, 7]) void constraint.accept(tokenId);
    expect(allowed()).toHaveLength(40);
  });

  it('ends where its shape or a stop string ends it, and has all that the shape knows of what may follow', async () => {
    const mask = Uint32Array.of(1, 0);
    const ahead = { mask, forced: 4, after: () => undefined };
    const shape: TokenConstraint = {
      accept: (tokenId) => Promise.resolve(tokenId === 9),
      mask: () => mask,
      forced: () => [4, 5],
      ahead: () => ahead,
    };
    const constraint = constraintOf(createChoice(['b']), 0, TOKENS, shape);
    const { mask: allowed, forced, ahead: look } = constraint;
    expect([allowed?.(), forced?.(), look?.()]).toEqual([mask, [4, 5], ahead]);
    const accepted = [3, 9, 1].map(async (tokenId) => constraint.accept(tokenId));
    expect(await Promise.all(accepted)).toEqual([false, true, true]);
  });
});
