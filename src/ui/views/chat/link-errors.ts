import type { WireError } from '../../../client/index.ts';

/** docs/errors.md is made from this function. */
export function linkBroken(): WireError {
  return {
    code: 'LINK_BROKEN',
    message:
      'The chat of the link can’t be read: the link was cut, or another version of the page made it. Copy the whole link again.',
  };
}
