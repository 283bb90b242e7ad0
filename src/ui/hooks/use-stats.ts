import { useEffect, useState } from 'react';

import type { DeploymentMap, Serve, ServeStats } from '../../client/index.ts';

/**
 * The worker's last figures, for all tabs.
 *
 * @param serve Of `useTabserve`.
 * @returns Undefined until there is a client and the worker has sent some.
 */
export function useStats<Deployments extends DeploymentMap>(
  serve: Serve<Deployments> | undefined,
): ServeStats | undefined {
  const [stats, setStats] = useState<ServeStats>();
  useEffect(() => serve?.subscribe('stats', setStats), [serve]);
  return stats;
}
