import { isWholeText, parseOptions, validator } from '../../../batching/base/validate.ts';

const KEY =
  '1 or more visible ASCII characters, or left out for a server without a key (at the bridge: TABSERVE_UPSTREAM_API_KEY)';

/** Never shows the key: messages reach logs. */
const isKey = validator(KEY, (value, refuse): string => {
  if (typeof value !== 'string') throw refuse(`a value of type ${typeof value}`);
  if (!/^[!-~]+$/.test(value)) throw refuse(value === '' ? value : 'other characters');
  return value;
});

/** The options of `connect({ server, … })`. */
const CHECKS = {
  server: isWholeText,
  model: isWholeText,
  embedder: isWholeText,
  reranker: isWholeText,
  apiKey: isKey,
};

/**
 * Checks what names a server's models and holds its key.
 *
 * @param options As the caller gave them, beside what this library adds: `url`, `shownUrl` and `clock`.
 * @throws InvalidOptionError, UnknownOptionError.
 */
export function checkServerOptions(options: object): void {
  const added = new Set(['url', 'shownUrl', 'clock']);
  const given = Object.entries(options).filter(([name]) => !added.has(name));
  parseOptions('options', CHECKS, Object.fromEntries(given));
}
