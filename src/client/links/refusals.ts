import { InvalidOptionError } from '../../batching/base/errors.ts';
import { MAX_NAME_LENGTH } from '../../protocol/wire.ts';

/** The worker drops a message with such a name, and its caller would wait forever. */
export function nameRefusal(deployment: unknown): InvalidOptionError | undefined {
  if (typeof deployment === 'string' && deployment.length <= MAX_NAME_LENGTH) return undefined;
  const expected = `a deployment's name of at most ${MAX_NAME_LENGTH} characters`;
  return InvalidOptionError.of('name', expected, deployment);
}

/** The worker also drops a message with a longer text. */
export function textRefusal(
  option: string,
  length: number,
  maxLength: number,
): InvalidOptionError | undefined {
  if (length <= maxLength) return undefined;
  return InvalidOptionError.of(option, `at most ${maxLength} characters`, `${length} characters`);
}
