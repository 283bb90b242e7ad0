import { useEffect, useRef, useState } from 'react';
import {
  type AnyDeployment,
  type ConnectOptions,
  type DeploymentTypes,
  type TabserveClient,
  type TabserveStatus,
  connect,
} from '../client/index.ts';

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

interface SharedClient {
  readonly connecting: Promise<TabserveClient>;
  numUsers: number;
}

/** The page's clients by the name of their app. The empty name is that of the app without one. */
const clients = new Map<string, SharedClient>();

/**
 * Gives all components of a page one client per app. The first one's options count.
 *
 * @returns The client, and a function that gives it up. It is closed in a microtask once nobody uses it, so a component that
 *   is mounted anew, as in React's strict mode, finds it open.
 */
export function shareClient(options: ConnectOptions): {
  readonly connecting: Promise<TabserveClient>;
  readonly release: () => void;
} {
  const name = options.name ?? '';
  const client = clients.get(name) ?? { connecting: connect(options), numUsers: 0 };
  clients.set(name, client);
  client.numUsers += 1;
  const release = (): void => {
    client.numUsers -= 1;
    queueMicrotask(() => closeUnused(name, client));
  };
  return { connecting: client.connecting, release };
}

function closeUnused(name: string, client: SharedClient): void {
  if (client.numUsers > 0 || clients.get(name) !== client) return;
  clients.delete(name);
  // The callers of a failed `connect` have its error.
  client.connecting.then(
    (serve) => serve.close(),
    () => undefined,
  );
}
