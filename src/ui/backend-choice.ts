import type { BackendChoice } from '../worker/protocol/ladder.ts';
import type { WireError } from '../worker/protocol/wire.ts';

const CHOICES: readonly string[] = ['auto', 'webgpu', 'wasm'] satisfies BackendChoice[];

const PARAMETER = 'backend';

type ParsedBackend =
  | { readonly backend: BackendChoice; readonly error?: never }
  | { readonly backend?: never; readonly error: WireError };

export function parseBackendChoice(search: string): ParsedBackend {
  const text = new URLSearchParams(search).get(PARAMETER) ?? 'auto';
  if (isBackendChoice(text)) return { backend: text };
  const message = `Expected \`backend\` in the address to be ${CHOICES.join(', ')}, got \`${text}\`.`;
  return { error: { code: 'INVALID_OPTION', message } };
}

export function withBackend(href: string, backend: BackendChoice): string {
  const url = new URL(href);
  url.searchParams.set(PARAMETER, backend);
  return url.href;
}

function isBackendChoice(text: string): text is BackendChoice {
  return CHOICES.includes(text);
}
