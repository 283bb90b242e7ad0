import { GENERATION_FIELD_NAMES, type GenerationTexts } from './generation-fields.ts';

export interface Permalink {
  readonly prompt?: string | undefined;
  readonly texts: GenerationTexts;
  /** The ID of the model that wrote what the link shows. */
  readonly model?: string | undefined;
  /** A load scenario as JSON; the load panel checks it. */
  readonly load?: string | undefined;
  /** A chat as JSON; the chats check it. */
  readonly chat?: string | undefined;
  /** The prompt for each row of a job. */
  readonly template?: string | undefined;
  /** The system prompt of its rows. */
  readonly system?: string | undefined;
}

/** Those that are no option. */
export const PLAIN_PARTS = ['prompt', 'model', 'load', 'chat', 'template', 'system'] as const;

/** Reads the fragment of an address, which browsers send to no server. */
export function readPermalink(hash: string): Permalink {
  const parameters = parametersOf(hash);
  return {
    ...Object.fromEntries(PLAIN_PARTS.map((name) => [name, parameters.get(name) ?? undefined])),
    texts: Object.fromEntries(GENERATION_FIELD_NAMES.map((name) => [name, parameters.get(name) ?? ''])),
  };
}

/** The address with this state in its fragment, without empty fields. */
export function withPermalink(href: string, link: Permalink): string {
  const parameters = new URLSearchParams();
  const set = (name: string, value: string | undefined): void => {
    if (value !== undefined) parameters.set(name, value);
  };
  set('prompt', link.prompt);
  for (const name of GENERATION_FIELD_NAMES) set(name, link.texts[name] || undefined);
  for (const name of PLAIN_PARTS.slice(1)) set(name, link[name]);
  const url = new URL(href);
  url.hash = parameters.toString();
  return url.href;
}

export function parametersOf(hash: string): URLSearchParams {
  return new URLSearchParams(hash.replace(/^#/, ''));
}
