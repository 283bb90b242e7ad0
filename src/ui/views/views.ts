import { useEffect, useState, type ComponentType } from 'react';

import { EMBEDDER, TEXT_GENERATOR } from '../../client/index.ts';
import { isEncoder } from '../state/is-encoder.ts';

export interface ViewProps {
  readonly name: string;
  readonly isShown: boolean;
}

type Load = () => Promise<{ readonly default: ComponentType<ViewProps> }>;

interface View {
  /** A deployment's name, or a name that no deployment can have. */
  readonly id: string;
  readonly title: string;
  /** Its name in the address, `?view=…`. Left out for the first screen. */
  readonly param?: string;
  /** Left out for the first screen, which is in the page's first script. */
  readonly load?: Load;
  /** Whether a server that answers in place of the worker has none of it. */
  readonly needsWorker?: true;
}

/** Of the last tab, which has all other deployments. */
export const DEPLOYMENTS = 'deployments/';

/** The text generator's and the embedder's, in the order of their tabs. */
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
    needsWorker: true,
    load: async () => ({ default: (await import('./embed/embed-view.tsx')).EmbedView }),
  },
  {
    id: `${TEXT_GENERATOR}/jobs`,
    title: 'Jobs',
    param: 'jobs',
    load: async () => ({ default: (await import('./jobs/jobs-view.tsx')).JobsView }),
  },
];

/** Those that come with the page, with their titles. */
const OWN_DEPLOYMENTS: ReadonlyMap<string, string> = new Map([
  ['adder', 'Adder'],
  ['house-price', 'House price'],
]);

const PARAMETER = 'deployment';
const VIEW_PARAMETER = 'view';

function findView(id: string): View | undefined {
  return VIEWS.find((view) => view.id === id);
}

export function titleOf(id: string): string {
  return id === DEPLOYMENTS ? 'Deployments' : (findView(id)?.title ?? OWN_DEPLOYMENTS.get(id) ?? id);
}

/** The tab that shows what is selected: a view, or a deployment. */
export function tabOf(selected: string): string {
  return findView(selected) ? selected : DEPLOYMENTS;
}

/** The deployments of the last tab: the page's, then the user's own by name. The page's alone until the worker has said what it serves. */
export function listDeployments(served: readonly string[]): readonly string[] {
  const own = [...OWN_DEPLOYMENTS.keys()];
  if (served.length === 0) return own;
  const others = served.filter((name) => !isEncoder(name) && name !== TEXT_GENERATOR);
  return [
    ...own.filter((name) => others.includes(name)),
    ...others.filter((name) => !OWN_DEPLOYMENTS.has(name)).toSorted(),
  ];
}

export function readSelected(search: string): string {
  const parameters = new URLSearchParams(search);
  const named = parameters.get(VIEW_PARAMETER);
  const deployment = parameters.get(PARAMETER) ?? TEXT_GENERATOR;
  const view = isEncoder(deployment) ? EMBEDDER : deployment;
  return VIEWS.find(({ param }) => param !== undefined && param === named)?.id ?? view;
}

/** A view that the address asks for and that there isn't. */
export function unknownViewIn(search: string): string | undefined {
  const named = new URLSearchParams(search).get(VIEW_PARAMETER) ?? 'text';
  return named === 'text' || VIEWS.some(({ param }) => param === named) ? undefined : named;
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
