import { InvalidOptionError, shown, withoutIndex } from '../../batching/base/errors.ts';

/**
 * @param place The part that can't be sent, as `options.tools[0].execute`; empty if no part is to blame.
 * @param reason Why not, as "it is a function".
 */
export function uncloneable(place: string, reason: string): InvalidOptionError {
  const what = place === '' ? 'The input' : `\`${shown(place)}\``;
  return new InvalidOptionError(
    `${what} can't be sent to the worker: ${shown(reason)}. Pass plain data.`,
    withoutIndex(place.replace('options.', '')) || undefined,
  );
}
