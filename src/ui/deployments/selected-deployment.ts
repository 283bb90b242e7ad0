import { useState } from 'react';

import { TEXT_GENERATOR } from '../../worker/protocol/generation.ts';

/** Tabserve's own deployments in the order of their tabs, with their titles; the user's follow by name. */
const OWN_DEPLOYMENTS: ReadonlyMap<string, string> = new Map([
  [TEXT_GENERATOR, 'Text'],
  ['adder', 'Adder'],
  ['house-price', 'House price'],
]);

const PARAMETER = 'deployment';

export function titleOf(deployment: string): string {
  return OWN_DEPLOYMENTS.get(deployment) ?? deployment;
}

/** The tabs: the deployments that the worker serves, or the default ones until it has sent them. */
export function listDeployments(served: readonly string[]): readonly string[] {
  const own = [...OWN_DEPLOYMENTS.keys()];
  if (served.length === 0) return own;
  const names = new Set([TEXT_GENERATOR, ...served]);
  const ownServed = own.filter((name) => names.delete(name));
  return [...ownServed, ...[...names].toSorted()];
}

export function readSelected(search: string): string {
  return new URLSearchParams(search).get(PARAMETER) ?? TEXT_GENERATOR;
}

export function withSelected(href: string, deployment: string): string {
  const url = new URL(href);
  if (deployment === TEXT_GENERATOR) url.searchParams.delete(PARAMETER);
  else url.searchParams.set(PARAMETER, deployment);
  return url.href;
}

/** The choice, kept in the page's address. */
export function useSelectedDeployment(): readonly [string, (deployment: string) => void] {
  const [selected, setSelected] = useState(() => readSelected(location.search));
  const select = (deployment: string): void => {
    setSelected(deployment);
    // Replaced, not pushed: the arrow keys pass through tabs that Back should skip.
    history.replaceState(null, '', withSelected(location.href, deployment));
  };
  return [selected, select];
}
