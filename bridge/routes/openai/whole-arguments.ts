import { parseOrderedJson } from '../../../src/batching/base/ordered-json.ts';

/**
 * The arguments of a call, with keys and numbers as the model wrote them; undefined where they were cut.
 *
 * @param isEndCut Whether the answer was cut where the call ends. Else no text is how some servers write no arguments.
 */
export function wholeArguments(json: string, isEndCut: boolean): unknown {
  if (json === '' && !isEndCut) return {};
  try {
    return parseOrderedJson(json);
  } catch {
    return undefined;
  }
}
