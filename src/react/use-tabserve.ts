import { useEffect, useRef, useState } from 'react';
import type {
  AnyDeployment,
  ConnectOptions,
  DeploymentTypes,
  ServerOptions,
  TabserveClient,
  TabserveStatus,
} from '../client/index.ts';
import { checkHookOptions, type ClientUse, keyOf, shareClient } from './shared-clients.ts';

/** A component's view of its client. */
export interface Tabserve<Deployments extends readonly AnyDeployment[] = readonly []> {
  /** Undefined on a server, in the first render and after a failure to connect. */
  readonly serve: TabserveClient<DeploymentTypes<Deployments>> | undefined;
  /** The worker's status as this tab sees it. */
  readonly status: TabserveStatus | undefined;
  /** Why there is no client, or why a changed option has no effect: `serve` is then as before. */
  readonly error: Error | undefined;
}

const NOTHING = { serve: undefined, status: undefined, error: undefined };

/**
 * Joins the tabs of an app while the component is mounted. Components of one app share one client, which begins with the options of the
 * first.
 *
 * A changed option takes effect: another `model`, `dtype`, `embedder` or `reranker` is loaded for all tabs, a changed `worker` is called
 * at the next start, and any other option makes another client.
 *
 * @param options Those of `connect`.
 * @throws InvalidOptionError for options that are no object.
 */
export function useTabserve<const Deployments extends readonly AnyDeployment[] = readonly []>(
  options: ConnectOptions | ServerOptions,
): Tabserve<Deployments> {
  checkHookOptions(options);
  const key = keyOf(options);
  const [state, setState] = useState<Tabserve<Deployments> & { readonly key: string }>({ ...NOTHING, key });
  const latest = useRef(options);
  const use = useRef<ClientUse>(undefined);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    let unsubscribe = (): void => undefined;
    let isMounted = true;
    const joined = shareClient(latest.current, (error) => setState((last) => ({ ...last, error })));
    use.current = joined;
    const follow = async (): Promise<void> => {
      try {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller says what the worker serves
        const serve = (await joined.connecting) as TabserveClient<DeploymentTypes<Deployments>>;
        if (!isMounted) return;
        unsubscribe = serve.subscribe('status', (status) =>
          setState(({ error }) => ({ key, serve, status, error })),
        );
      } catch (error) {
        if (isMounted && error instanceof Error) setState({ ...NOTHING, key, error });
      }
    };
    void follow();
    return () => {
      isMounted = false;
      unsubscribe();
      joined.release();
      use.current = undefined;
      setState({ ...NOTHING, key });
    };
  }, [key]);
  useEffect(() => use.current?.follow(options));
  // A request ends with its client, which is still open in the render with another key.
  return state.key === key ? state : NOTHING;
}
