import { type InvalidOptionError, shown } from '../../batching/base/errors.ts';
import { uncloneable } from './clone-error.ts';

/**
 * Names the innermost part that `structuredClone` refuses: browsers quote it, and don't say where it stands.
 *
 * @param given What was to be cloned, by name.
 */
export function cloneRefusal(cause: unknown, given: object): InvalidOptionError {
  try {
    const found = innermostIn(given, '', new Set());
    if (found) return uncloneable(...found);
  } catch {
    // Nobody can read it, such as a revoked Proxy.
  }
  return uncloneable('', shown(cause));
}

/** As `options.tools[0].execute`, and why it can't be cloned. */
type Uncloneable = readonly [place: string, reason: string];

function innermostIn(value: object, place: string, seen: Set<unknown>): Uncloneable | undefined {
  seen.add(value);
  for (const name of Object.keys(value)) {
    const here = place + (Array.isArray(value) ? `[${name}]` : `${place && '.'}${name}`);
    let part: unknown;
    try {
      part = Reflect.get(value, name);
      structuredClone(part);
    } catch (error) {
      // A cycle fails for another part.
      if (seen.has(part)) continue;
      if (part === undefined) return [here, shown(error)];
      const inner = typeof part === 'object' && part && innermostIn(part, here, seen);
      return inner || [here, `it is ${kindOf(part)}`];
    }
  }
  return undefined;
}

/** All parts of an object can be sent, or lead back to one around it. */
function kindOf(value: unknown): string {
  if (typeof value !== 'object') return `a ${typeof value}`;
  const type = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return /^(?:Object|Array)$/.test(type) ? 'no plain data, such as a Proxy' : `of the type ${type}`;
}
