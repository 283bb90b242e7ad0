import { useEffect, useState } from 'react';

import type { DeploymentMap, TabserveClient, TabserveStats } from '../client/index.ts';
import { checkClient } from './shared-clients.ts';

/**
 * The worker's last figures, for all tabs.
 *
 * @param serve Of `useTabserve`.
 * @returns Undefined until there is a client and the worker has sent some.
 * @throws InvalidOptionError for what is no client.
 */
export function useStats<Deployments extends DeploymentMap>(
  serve: TabserveClient<Deployments> | undefined,
): TabserveStats | undefined {
  checkClient(serve, 'useStats');
  const [stats, setStats] = useState<TabserveStats>();
  useEffect(() => {
    const unsubscribe = serve?.subscribe('stats', setStats);
    return () => {
      unsubscribe?.();
      // Those of another client are to come.
      setStats(undefined);
    };
  }, [serve]);
  return stats;
}
