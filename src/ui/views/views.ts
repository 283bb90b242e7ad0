import { useEffect, useState, type ComponentType } from 'react';

import { EMBEDDER, TEXT_GENERATOR } from '../../client/index.ts';
import { isEncoder } from '../state/is-encoder.ts';

export interface ViewProps {
  readonly name: string;
  readonly isShown: boolean;
}

type Load = () => Promise<{ readonly default: ComponentType<ViewProps> }>;

interface View {
  /** A deployment's name, or a name that no deployment can have: it isn't one of a file. */
  readonly id: string;
  readonly title: string;
  /** Its name in the address, `?view=…`. Left out: its deployment names it. */
  readonly param?: string;
  /** Left out for the first screen, which is in the page's first script, and for deployments, which share a view. */
  readonly load?: Load;
}

/** Tabserve's own views in the order of their tabs; the user's deployments follow by name. */
export const VIEWS: readonly View[] = [
  { id: TEXT_GENERATOR, title: 'Text' },
  {
    id: `${TEXT_GENERATOR}/chat`,
    title: 'Chat',
    param: 'chat',
    load: async () => ({ default: (await import('./chat/chat-view.tsx')).ChatView }),
  },
  {
    id: EMBEDDER,
    title: 'Embed',
    param: 'embed',
    load: async () => ({ default: (await import('./embed/embed-view.tsx')).EmbedView }),
  },
  {
    id: `${TEXT_GENERATOR}/jobs`,
    title: 'Jobs',
    param: 'jobs',
    load: async () => ({ default: (await import('./jobs/jobs-view.tsx')).JobsView }),
  },
  { id: 'adder', title: 'Adder' },
  { id: 'house-price', title: 'House price' },
];

const PARAMETER = 'deployment';
const VIEW_PARAMETER = 'view';

function findView(id: string): View | undefined {
  return VIEWS.find((view) => view.id === id);
}

export function titleOf(id: string): string {
  return findView(id)?.title ?? id;
}

/** The tabs: the views of what the worker serves, or the default ones until it has said so. */
export function listViews(served: readonly string[]): readonly string[] {
  const own = VIEWS.map(({ id }) => id);
  if (served.length === 0) return own;
  const named = VIEWS.filter(({ param }) => param !== undefined).map(({ id }) => id);
  const others = served.filter((name) => !isEncoder(name));
  const names = new Set([TEXT_GENERATOR, ...named, ...others]);
  const ownServed = own.filter((name) => names.delete(name));
  return [...ownServed, ...[...names].toSorted()];
}

export function readSelected(search: string): string {
  const parameters = new URLSearchParams(search);
  const named = parameters.get(VIEW_PARAMETER);
  const deployment = parameters.get(PARAMETER) ?? TEXT_GENERATOR;
  const view = isEncoder(deployment) ? EMBEDDER : deployment;
  return VIEWS.find(({ param }) => param !== undefined && param === named)?.id ?? view;
}

export function withSelected(href: string, view: string): string {
  const url = new URL(href);
  url.searchParams.delete(PARAMETER);
  url.searchParams.delete(VIEW_PARAMETER);
  const param = findView(view)?.param;
  if (param !== undefined) url.searchParams.set(VIEW_PARAMETER, param);
  else if (view !== TEXT_GENERATOR) url.searchParams.set(PARAMETER, view);
  return url.href;
}

/** The choice, kept in the page's address: Back goes to the view before. */
export function useSelectedView(): readonly [string, (view: string, isPassing: boolean) => void] {
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
