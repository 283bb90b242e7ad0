import { useEffect, useState } from 'react';

import type { DeploymentMap, TabserveClient, ServeStats } from '../../client/index.ts';

/**
 * The worker's last figures, for all tabs.
 *
 * @param serve Of `useTabserve`.
 * @returns Undefined until there is a client and the worker has sent some.
 */
export function useStats<Deployments extends DeploymentMap>(
  serve: TabserveClient<Deployments> | undefined,
): ServeStats | undefined {
  const [stats, setStats] = useState<ServeStats>();
  useEffect(() => serve?.subscribe('stats', setStats), [serve]);
  return stats;
}
