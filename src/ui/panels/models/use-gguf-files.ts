import { useState } from 'react';

import type { GgufFile } from '../../../client/index.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { useServe } from '../../state/serve-context.ts';

/** A repository and its GGUF files. */
export interface GgufListing {
  /** `owner/name` */
  readonly id: string;
  readonly files: readonly GgufFile[];
}

/** Asks the hub for the GGUF files of a repository. */
export function useGgufFiles() {
  const { serve } = useServe();
  const [listing, setListing] = useState<GgufListing>();
  const { refusal, attempt, clearRefusal } = useAttempt();
  /** @param model As it is typed: a file that it names is ignored. */
  const list = (model: string): void => {
    const [id = ''] = model.split(':');
    setListing(undefined);
    void attempt(async () => setListing({ id, files: await serve.ggufFiles(id) }));
  };
  const clear = (): void => {
    setListing(undefined);
    clearRefusal();
  };
  return { listing, refusal, list, clear };
}
