import { GENERATION_FIELD_NAMES, type GenerationTexts } from './generation-fields.ts';

export interface Permalink {
  readonly prompt?: string | undefined;
  readonly texts: GenerationTexts;
  /** The ID of the model that wrote what the link shows. */
  readonly model?: string | undefined;
  /** A load scenario as JSON; the load panel checks it. */
  readonly load?: string | undefined;
}

const PROMPT = 'prompt';
const MODEL = 'model';
const LOAD = 'load';

/** Reads the fragment of an address, which browsers send to no server. */
export function readPermalink(hash: string): Permalink {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    prompt: parameters.get(PROMPT) ?? undefined,
    texts: Object.fromEntries(GENERATION_FIELD_NAMES.map((name) => [name, parameters.get(name) ?? ''])),
    model: parameters.get(MODEL) ?? undefined,
    load: parameters.get(LOAD) ?? undefined,
  };
}

/** The address with this state in its fragment, without empty fields. */
export function withPermalink(href: string, { prompt, texts, model, load }: Permalink): string {
  const parameters = new URLSearchParams();
  if (prompt !== undefined) parameters.set(PROMPT, prompt);
  for (const name of GENERATION_FIELD_NAMES) if (texts[name]) parameters.set(name, texts[name]);
  if (model !== undefined) parameters.set(MODEL, model);
  if (load !== undefined) parameters.set(LOAD, load);
  const url = new URL(href);
  url.hash = parameters.toString();
  return url.href;
}
