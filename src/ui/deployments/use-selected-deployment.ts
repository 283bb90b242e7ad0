import { useState } from 'react';

import { readSelected, withSelected } from './selected-deployment.ts';

/** The chosen deployment, kept in the page's address: a reload, a bookmark or a link brings it back. */
export function useSelectedDeployment(): readonly [string, (deployment: string) => void] {
  const [selected, setSelected] = useState(() => readSelected(location.search));
  const select = (deployment: string): void => {
    setSelected(deployment);
    // Replaced, not pushed: arrow keys pass through tabs that nobody wants to go back to.
    history.replaceState(null, '', withSelected(location.href, deployment));
  };
  return [selected, select];
}
