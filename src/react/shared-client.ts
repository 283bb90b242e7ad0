import { connect, type ConnectOptions, type TabserveClient } from '../client/index.ts';

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
