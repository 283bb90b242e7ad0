/** Calls public functions with wrong arguments, and tells the errors that are the engine's. */
export type Call = (...given: readonly unknown[]) => unknown;

const WRONG: readonly unknown[] = [
  undefined,
  null,
  5,
  'x',
  Symbol('x'),
  {},
  [],
  [5],
  () => {},
  Object.create(null),
];
const ARGUMENTS = [
  [],
  ...WRONG.map((one) => [one]),
  ...WRONG.flatMap((one) => WRONG.map((two) => [one, two])),
];

/** Methods that the docs don't have. */
const INTERNAL = ['apply', 'end', 'follow', 'refresh', 'reject', 'resolve'];
/**
 * `startWorker` tells its tabs what is wrong, a promise's `then` takes anything, and there is no `imageModel`. `close` would end the
 * others.
 */
const LEFT_OUT = new Set([...INTERNAL, 'close', 'imageModel', 'startWorker', 'then']);

/** Errors that are neither ours nor the AI SDK's, which name neither the argument nor what to do. */
export async function engineErrors(call: Call): Promise<readonly string[]> {
  const errors: string[] = [];
  for (const given of ARGUMENTS) {
    try {
      const answer = await call(...given);
      await Promise.all(Array.isArray(answer) ? answer : []);
    } catch (error) {
      const { code, name } = Object(error);
      const isOwn = typeof code === 'string' && (code !== 'INVALID_OPTION' || /`[^`]+`/.test(String(error)));
      if (!isOwn && !String(name).startsWith('AI_'))
        errors.push(`${given.map(typeOf).join()}: ${String(error)}`);
    }
  }
  return errors;
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

export function functionsOf(object: object): readonly (readonly [string, Call])[] {
  const names = new Set<string>();
  const ends: readonly (object | null)[] = [null, Object.prototype, Function.prototype, Error];
  for (let at: object | null = object; at && !ends.includes(at); at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return [...names].flatMap((name) => {
    const value: unknown =
      name === 'constructor' || LEFT_OUT.has(name) ? undefined : Reflect.get(object, name);
    return isCall(value) ? [[name, value] as const] : [];
  });
}

/** No class. */
function isCall(value: unknown): value is Call {
  return typeof value === 'function' && !String(value).startsWith('class');
}
