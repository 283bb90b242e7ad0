import { backendChoice } from '../worker/protocol/ladder.ts';
import type { BackendChoice } from '../worker/protocol/ladder.ts';
import type { WireError } from '../worker/protocol/wire.ts';

const PARAMETER = 'backend';

export function parseBackendChoice(search: string) {
  const text = new URLSearchParams(search).get(PARAMETER) ?? 'auto';
  const backend = backendChoice.options.find((choice) => choice === text);
  if (backend) return { backend };
  const message = `Expected \`backend\` in the address to be ${backendChoice.options.join(', ')}, got \`${text}\`.`;
  return { error: { code: 'INVALID_OPTION', message } satisfies WireError };
}

export function withBackend(href: string, backend: BackendChoice): string {
  const url = new URL(href);
  url.searchParams.set(PARAMETER, backend);
  return url.href;
}
