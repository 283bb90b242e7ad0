import { useCallback, useEffect, useRef, useState } from 'react';

import {
  RequestCancelledError,
  type DeploymentMap,
  type GenerationOptions,
  type GenerationResponse,
  type GenerationResult,
  type Prompt,
  type TabserveClient,
} from '../client/index.ts';
import { checkClient } from './shared-clients.ts';

/** A request for text, and its result so far. */
export interface Generation {
  /** The continuation so far; with `echo` it starts with the prompt. */
  readonly text: string;
  /** The whole answer, once the request has ended well. */
  readonly result: GenerationResult | undefined;
  /** Why the request failed. A cancelled request has none. */
  readonly error: Error | undefined;
  /** Whether a request waits or runs. */
  readonly isRunning: boolean;
  /** Submits a prompt in place of the request that runs, if one does. Without a client it does nothing. `n` is always 1. */
  readonly generate: (prompt: Prompt, options?: GenerationOptions) => void;
  /** Ends the request that runs. Its text stays. */
  readonly cancel: () => void;
}

type GenerationState = Pick<Generation, 'text' | 'result' | 'error' | 'isRunning'>;

const IDLE: GenerationState = { text: '', result: undefined, error: undefined, isRunning: false };

/**
 * One request for text at a time, streamed into the component. It is cancelled when the component is unmounted.
 *
 * @param serve Of `useTabserve`. The request ends where it changes.
 * @throws InvalidOptionError for what is no client.
 */
export function useGeneration<Deployments extends DeploymentMap>(
  serve: TabserveClient<Deployments> | undefined,
): Generation {
  checkClient(serve, 'useGeneration');
  const [state, setState] = useState(IDLE);
  const running = useRef<GenerationResponse>(undefined);

  const cancel = useCallback(() => running.current?.cancel(), []);

  const generate = useCallback(
    (prompt: Prompt, options: GenerationOptions = {}) => {
      if (!serve) return;
      running.current?.cancel();
      const response = serve.getHandle('text-generator').remote(prompt, { ...options, n: 1 });
      running.current = response;
      setState({ ...IDLE, isRunning: true });
      void follow(response, (change) => {
        if (running.current === response) setState((last) => ({ ...last, ...change(last) }));
      });
    },
    [serve],
  );

  // oxlint-disable-next-line react/exhaustive-effect-dependencies -- a request ends with its client
  useEffect(() => cancel, [cancel, serve]);

  return { ...state, generate, cancel };
}

type Change = (last: GenerationState) => Partial<GenerationState>;

async function follow(response: GenerationResponse, update: (change: Change) => void): Promise<void> {
  try {
    for await (const { text, isRestart } of response)
      update((last) => ({ text: isRestart ? '' : last.text + text }));
    const result = await response.result();
    update(() => ({ result, isRunning: false }));
  } catch (cause) {
    // The component cancelled it; that is no failure.
    const isFailure = cause instanceof Error && !(cause instanceof RequestCancelledError);
    update(() => ({ isRunning: false, ...(isFailure && { error: cause }) }));
  }
}
