import type { Lookahead, TokenConstraint } from '../../batching/generation/request.ts';
import { emptyMask, forbidToken } from '../../batching/sampling/token-mask.ts';
import type { Choice } from './choice.ts';

/** The tokens of the model that a constraint has to know. */
interface KnownTokens {
  readonly vocabSize: number;
  /** Tokens that would end the text. */
  readonly endTokenIds: readonly number[];
}

/**
 * Ends a choice at its stop strings. Until it has `minTokens`, tokens that would end it are masked. Beside a shape, which alone
 * decides where the text may end, there is no such minimum.
 */
export function constraintOf(
  choice: Choice,
  minTokens: number,
  { vocabSize, endTokenIds }: KnownTokens,
  shape?: TokenConstraint,
): TokenConstraint {
  const push = (tokenId: number): boolean => choice.push(tokenId);
  if (shape) {
    return {
      accept: async (tokenId) => {
        const isStopped = push(tokenId);
        return (await shape.accept(tokenId)) || isStopped;
      },
      mask: () => shape.mask?.(),
      forced: () => shape.forced?.() ?? [],
      ahead: () => shape.ahead?.(),
    };
  }
  if (minTokens === 0) return { accept: push };
  const mask = emptyMask(vocabSize).fill(0xffff_ffff);
  for (const tokenId of endTokenIds) forbidToken(mask, tokenId);
  const aheadAt = (numTokens: number): Lookahead => ({
    mask: numTokens < minTokens ? mask : undefined,
    forced: undefined,
    after: () => aheadAt(numTokens + 1),
  });
  const ahead = (): Lookahead => aheadAt(choice.numTokens);
  return { accept: push, mask: () => ahead().mask, ahead };
}
