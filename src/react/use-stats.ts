import { useEffect, useState } from 'react';

import type { DeploymentMap, TabserveClient, TabserveStats } from '../client/index.ts';

/**
 * The worker's last figures, for all tabs.
 *
 * @param serve Of `useTabserve`.
 * @returns Undefined until there is a client and the worker has sent some.
 */
export function useStats<Deployments extends DeploymentMap>(
  serve: TabserveClient<Deployments> | undefined,
): TabserveStats | undefined {
  const [stats, setStats] = useState<TabserveStats>();
  useEffect(() => serve?.subscribe('stats', setStats), [serve]);
  return stats;
}
