import { describeJsonFault, roundedIn } from '../../protocol/json-fault.ts';

/** @param what As “The schema”. @throws Error that says what is wrong where, and what to do. */
export function parseTypedJson(text: string, what: string): unknown {
  const fault = describeJsonFault(text);
  if (fault !== undefined)
    throw new Error(`${what} isn’t JSON: ${fault}. Correct it, or put text in quotes.`);
  const rounded = roundedIn(text);
  if (rounded !== undefined)
    throw new Error(
      `${what} has the number ${rounded}, which would become ${Number(rounded)}. Write fewer digits, or put it in quotes.`,
    );
  return JSON.parse(text);
}
