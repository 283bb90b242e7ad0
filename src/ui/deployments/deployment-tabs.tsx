import type { KeyboardEvent } from 'react';

import './deployment-tabs.css';
import { titleOf } from './selected-deployment.ts';

interface DeploymentTabsProps {
  readonly deployments: readonly string[];
  readonly selected: string;
  readonly onSelect: (deployment: string) => void;
}

export function tabId(deployment: string): string {
  return `tab-${deployment}`;
}

export function tabPanelId(deployment: string): string {
  return `panel-${deployment}`;
}

/** One stop of the Tab key; the arrows, Home and End choose, as in every tab list. */
export function DeploymentTabs({ deployments, selected, onSelect }: DeploymentTabsProps) {
  // Where none is selected, the first is where the keyboard comes in.
  const stop = deployments.includes(selected) ? selected : deployments[0];

  const selectByKey = (event: KeyboardEvent): void => {
    const next = deployments.at(targetIndex(event.key, deployments.indexOf(selected), deployments.length));
    if (next === undefined || !TAB_KEYS.has(event.key)) return;
    event.preventDefault();
    onSelect(next);
    document.querySelector<HTMLElement>(`#${CSS.escape(tabId(next))}`)?.focus();
  };

  return (
    <div className="tabs" role="tablist" aria-label="Deployment">
      {deployments.map((deployment) => (
        <button
          key={deployment}
          type="button"
          role="tab"
          id={tabId(deployment)}
          aria-selected={deployment === selected}
          {...(deployment === selected && { 'aria-controls': tabPanelId(deployment) })}
          tabIndex={deployment === stop ? 0 : -1}
          onClick={() => onSelect(deployment)}
          onKeyDown={selectByKey}
        >
          {titleOf(deployment)}
        </button>
      ))}
    </div>
  );
}

const TAB_KEYS: ReadonlySet<string> = new Set(['ArrowRight', 'ArrowLeft', 'Home', 'End']);

function targetIndex(key: string, index: number, numTabs: number): number {
  if (key === 'Home') return 0;
  if (key === 'End') return numTabs - 1;
  const step = key === 'ArrowRight' ? 1 : -1;
  return (index + step + numTabs) % numTabs;
}
