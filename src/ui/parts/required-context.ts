import { createContext, use, type Context } from 'react';

/** A context and the hook that reads it, which throws where no component above gives a value. */
export function createRequiredContext<Value>(
  name: string,
): readonly [Context<Value | undefined>, () => Value] {
  const context = createContext<Value | undefined>(undefined);
  const useValue = (): Value => {
    const value = use(context);
    if (value === undefined) throw new Error(`This component needs a <${name} value={…}> above it.`);
    return value;
  };
  return [context, useValue];
}
