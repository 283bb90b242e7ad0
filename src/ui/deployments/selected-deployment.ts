import { TEXT_GENERATOR } from '../state/serve-store.ts';

/** Those that come with the page, in the order of their tabs; a user's own follow by name. */
const OWN_DEPLOYMENTS: readonly string[] = [TEXT_GENERATOR, 'adder', 'house-price'];

const TITLES: Readonly<Record<string, string>> = {
  [TEXT_GENERATOR]: 'Text generator',
  adder: 'Adder',
  'house-price': 'House price',
};

const PARAMETER = 'deployment';

export function titleOf(deployment: string): string {
  return TITLES[deployment] ?? deployment;
}

/** The tabs: what the worker serves, and until it has said so what it serves by default. */
export function listDeployments(served: readonly string[]): readonly string[] {
  if (served.length === 0) return OWN_DEPLOYMENTS;
  const names = new Set([TEXT_GENERATOR, ...served]);
  const own = OWN_DEPLOYMENTS.filter((name) => names.delete(name));
  return [...own, ...[...names].toSorted()];
}

/** Reads `?deployment=` of the page's address; left out means the text generator. */
export function readSelected(search: string): string {
  return new URLSearchParams(search).get(PARAMETER) ?? TEXT_GENERATOR;
}

/** The address that brings this choice back; its other parameters stay. */
export function withSelected(href: string, deployment: string): string {
  const url = new URL(href);
  if (deployment === TEXT_GENERATOR) url.searchParams.delete(PARAMETER);
  else url.searchParams.set(PARAMETER, deployment);
  return url.href;
}
