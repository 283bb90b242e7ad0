import { useState } from 'react';

import type { FoundModel } from '../../../client/index.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { useServe } from '../../state/serve-context.ts';

/** The models that the hub has for some words. */
export interface ModelSearch {
  readonly query: string;
  readonly models: readonly FoundModel[];
}

/** Asks the hub. The answer to an earlier question is dropped. */
export function useModelSearch() {
  const { serve } = useServe();
  const [found, setFound] = useState<ModelSearch>();
  const [asked, setAsked] = useState<string>();
  const { refusal, attempt, clearRefusal } = useAttempt();
  const search = async (query: string): Promise<void> => {
    setFound(undefined);
    setAsked(query);
    await attempt(async () => {
      const models = await serve.searchModels(query);
      setFound({ query, models });
    });
    setAsked(undefined);
  };
  const clear = (): void => {
    setFound(undefined);
    clearRefusal();
  };
  return { found, refusal, isSearching: asked !== undefined, search, clear };
}
