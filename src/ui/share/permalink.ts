import { EMPTY_GENERATION_TEXTS, GENERATION_FIELD_NAMES } from '../compose/generation-fields.ts';
import type { GenerationTexts } from '../compose/generation-fields.ts';

/** The state that a link restores. */
interface Permalink {
  readonly prompt: string | undefined;
  readonly texts: GenerationTexts;
  /** A load scenario as JSON; the load panel checks it. */
  readonly load: string | undefined;
}

const PROMPT = 'prompt';
const LOAD = 'load';

/** Reads the fragment of an address, which browsers send to no server. */
export function readPermalink(hash: string): Permalink {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const given = GENERATION_FIELD_NAMES.map((field) => [field, parameters.get(field) ?? ''] as const);
  return {
    prompt: parameters.get(PROMPT) ?? undefined,
    texts: { ...EMPTY_GENERATION_TEXTS, ...Object.fromEntries(given) },
    load: parameters.get(LOAD) ?? undefined,
  };
}

/** The address with this state in its fragment, without empty fields. */
export function withPermalink(href: string, { prompt, texts, load }: Permalink): string {
  const parameters = new URLSearchParams();
  if (prompt !== undefined) parameters.set(PROMPT, prompt);
  for (const field of GENERATION_FIELD_NAMES) if (texts[field] !== '') parameters.set(field, texts[field]);
  if (load !== undefined) parameters.set(LOAD, load);
  const url = new URL(href);
  url.hash = parameters.toString();
  return url.href;
}
