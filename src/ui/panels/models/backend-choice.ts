import { BACKEND_CHOICES, type BackendChoice, type WireError } from '../../../client/index.ts';

const PARAMETER = 'backend';

export function parseBackendChoice(search: string) {
  const text = new URLSearchParams(search).get(PARAMETER) ?? 'auto';
  const backend = BACKEND_CHOICES.find((choice) => choice === text);
  if (backend) return { backend };
  const message = `The address asks for the backend \`${text}\`, which doesn’t exist. Use one of ${BACKEND_CHOICES.join(', ')}.`;
  return { error: { code: 'INVALID_OPTION', message } satisfies WireError };
}

export function withBackend(href: string, backend: BackendChoice): string {
  const url = new URL(href);
  url.searchParams.set(PARAMETER, backend);
  return url.href;
}
