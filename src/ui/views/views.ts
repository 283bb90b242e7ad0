import { useEffect, useState } from 'react';

import { EMBEDDER, TEXT_GENERATOR } from '../../client/index.ts';
import { isEncoder } from '../state/is-encoder.ts';

/** The text generator's view for chats. No deployment has this name: it isn't one that a file can have. */
export const CHAT_VIEW = `${TEXT_GENERATOR}/chat`;

/** The view of jobs, named likewise. */
export const JOBS_VIEW = `${TEXT_GENERATOR}/jobs`;

/** Tabserve's own views in the order of their tabs, with their titles; the user's deployments follow by name. */
const OWN_VIEWS: ReadonlyMap<string, string> = new Map([
  [TEXT_GENERATOR, 'Text'],
  [CHAT_VIEW, 'Chat'],
  [EMBEDDER, 'Embed'],
  [JOBS_VIEW, 'Jobs'],
  ['adder', 'Adder'],
  ['house-price', 'House price'],
]);

const PARAMETER = 'deployment';
const VIEW_PARAMETER = 'view';
/** The views that have a name of their own in the address. */
const VIEW_OF_NAME: ReadonlyMap<string | null, string> = new Map([
  ['chat', CHAT_VIEW],
  ['embed', EMBEDDER],
  ['jobs', JOBS_VIEW],
]);

export function titleOf(view: string): string {
  return OWN_VIEWS.get(view) ?? view;
}

/** The tabs: the views of what the worker serves, or the default ones until it has said so. */
export function listViews(served: readonly string[]): readonly string[] {
  const own = [...OWN_VIEWS.keys()];
  if (served.length === 0) return own;
  const others = served.filter((name) => !isEncoder(name));
  const names = new Set([TEXT_GENERATOR, ...VIEW_OF_NAME.values(), ...others]);
  const ownServed = own.filter((name) => names.delete(name));
  return [...ownServed, ...[...names].toSorted()];
}

export function readSelected(search: string): string {
  const parameters = new URLSearchParams(search);
  const deployment = parameters.get(PARAMETER) ?? TEXT_GENERATOR;
  const view = isEncoder(deployment) ? EMBEDDER : deployment;
  return VIEW_OF_NAME.get(parameters.get(VIEW_PARAMETER)) ?? view;
}

export function withSelected(href: string, view: string): string {
  const url = new URL(href);
  url.searchParams.delete(PARAMETER);
  url.searchParams.delete(VIEW_PARAMETER);
  const [name] = [...VIEW_OF_NAME].find(([, named]) => named === view) ?? [];
  if (name) url.searchParams.set(VIEW_PARAMETER, name);
  else if (view !== TEXT_GENERATOR) url.searchParams.set(PARAMETER, view);
  return url.href;
}

/** The choice, kept in the page's address: Back goes to the view before. */
export function useSelectedDeployment(): readonly [string, (view: string, isPassing: boolean) => void] {
  const [selected, setSelected] = useState(() => readSelected(location.search));
  useEffect(() => {
    const goBack = (): void => setSelected(readSelected(location.search));
    window.addEventListener('popstate', goBack);
    return () => window.removeEventListener('popstate', goBack);
  }, []);
  const select = (view: string, isPassing: boolean): void => {
    setSelected(view);
    const href = withSelected(location.href, view);
    if (isPassing || view === selected) history.replaceState(null, '', href);
    else history.pushState(null, '', href);
  };
  return [selected, select];
}
