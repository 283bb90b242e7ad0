import { useEffect, useRef, useState } from 'react';

import type {
  AnyDeployment,
  ConnectOptions,
  DeploymentTypes,
  TabserveClient,
  TabserveStatus,
} from '../client/index.ts';
import { shareClient } from './shared-client.ts';

/** A component's view of its client. */
export interface Tabserve<Deployments extends readonly AnyDeployment[] = readonly []> {
  /** Undefined on a server, in the first render and after a failure to connect. */
  readonly serve: TabserveClient<DeploymentTypes<Deployments>> | undefined;
  /** The worker's status as this tab sees it. */
  readonly status: TabserveStatus | undefined;
  /** Why there is no client. */
  readonly error: Error | undefined;
}

const NOTHING = { serve: undefined, status: undefined, error: undefined };

/**
 * Joins the tabs of an app while the component is mounted. Components that give the same `name` share one client, which takes
 * the options of the first; other options take effect once none of them is mounted.
 *
 * @param options Those of `connect`.
 */
export function useTabserve<const Deployments extends readonly AnyDeployment[] = readonly []>(
  options: ConnectOptions,
): Tabserve<Deployments> {
  const [state, setState] = useState<Tabserve<Deployments>>(NOTHING);
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const { name } = options;
  useEffect(() => {
    let unsubscribe = (): void => undefined;
    let isMounted = true;
    const { connecting, release } = shareClient(latest.current);
    const follow = async (): Promise<void> => {
      try {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller says what the worker serves
        const serve = (await connecting) as TabserveClient<DeploymentTypes<Deployments>>;
        if (!isMounted) return;
        unsubscribe = serve.subscribe('status', (status) => setState({ serve, status, error: undefined }));
      } catch (error) {
        if (isMounted && error instanceof Error) setState({ ...NOTHING, error });
      }
    };
    void follow();
    return () => {
      isMounted = false;
      unsubscribe();
      release();
      setState(NOTHING);
    };
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- another name is another app
  }, [name]);
  return state;
}
