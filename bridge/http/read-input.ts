import type { IncomingMessage } from 'node:http';

import { isMadeWhole, isRounded } from '../../src/batching/base/lost-digits.ts';
import { UNROUNDED } from '../../src/batching/base/rounded-integers.ts';
import { shown } from '../../src/batching/base/errors.ts';
import { parseDecimal } from '../../src/batching/base/validate.ts';
import type { Exchange } from './exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { readFields } from '../../src/protocol/openai/fields.ts';
import { decodeUtf8, mediaTypeOf, readJson, readWholeBody } from './read-body.ts';
import { notReadable } from './http-errors.ts';

/** The fields of a request, from its query and its body together. No name is in both records. */
export interface Input {
  /** Texts: the query, a form, or a body of plain text. */
  readonly params: URLSearchParams;
  /** Values of any type: a JSON body. */
  readonly json: Readonly<Record<string, unknown>>;
}

const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain';
const URL_ENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
const ACCEPTED = [URL_ENCODED, MULTIPART, JSON_TYPE, TEXT_TYPE];

/**
 * Reads the query, and the body of a POST.
 *
 * @param mainField The name of the field that a plain-text body holds.
 * @throws HttpError 400 for a field that is in the query and in the body, or a malformed body; 413; 415.
 */
export async function readInput({ request, url }: Exchange, mainField: string): Promise<Input> {
  const params = readUrlEncoded(url.search.slice(1));
  if (request.method !== 'POST') return { params, json: {} };
  const isJson = mediaTypeOf(request) === JSON_TYPE;
  const json = isJson ? readFields(await readJson(request)) : {};
  const form = isJson ? new URLSearchParams() : await readForm(request, mainField);
  const twice = [...form.keys(), ...Object.keys(json)].find((name) => params.has(name));
  if (twice !== undefined) {
    const message = `\`${shown(twice)}\` is in the query and in the body: give it in one of them.`;
    throw HttpError.invalid(twice, message);
  }
  for (const [name, value] of form) params.append(name, value);
  return { params, json };
}

async function readForm(request: IncomingMessage, mainField: string): Promise<URLSearchParams> {
  const type = mediaTypeOf(request);
  const refuse = (reason: string): HttpError => notReadable(type, reason);
  const body = await readWholeBody(request, refuse);
  // A client may send everything in the query, with any content type.
  if (body.length === 0) return new URLSearchParams();
  if (type === TEXT_TYPE) return new URLSearchParams({ [mainField]: decodeUtf8(body, refuse) });
  if (type === URL_ENCODED) return readForms(decodeUtf8(body, refuse));
  if (type === MULTIPART) return readMultipart(body, request.headers['content-type'] ?? '');
  throw HttpError.unsupportedBody(`one of ${ACCEPTED.join(', ')}`);
}

/** `curl -d` calls everything a form. */
function readForms(text: string): URLSearchParams {
  if (!/^\s*[{[]/.test(text)) return readUrlEncoded(text);
  throw notReadable(URL_ENCODED, `it looks like JSON, so send it with the header Content-Type: ${JSON_TYPE}`);
}

/** @throws HttpError 400 for bytes that are not UTF-8: `URLSearchParams` would make another character of them. */
function readUrlEncoded(text: string): URLSearchParams {
  const broken = text.split('&').find((pair) => !isUtf8(pair));
  if (broken === undefined) return new URLSearchParams(text);
  throw HttpError.expected(broken.split('=', 1)[0] ?? '', 'a text in UTF-8', broken);
}

/** @param text Percent-encoded, but for signs that begin no code. */
function isUtf8(text: string): boolean {
  try {
    decodeURIComponent(text.replaceAll(/%(?![\da-f]{2})/gi, '%25'));
    return true;
  } catch {
    return false;
  }
}

async function readMultipart(body: Buffer<ArrayBuffer>, contentType: string): Promise<URLSearchParams> {
  const response = new Response(body, { headers: { 'Content-Type': contentType } });
  const form = await response.formData().catch(() => {
    throw notReadable(MULTIPART, 'its parts do not follow its boundary');
  });
  const fields = new URLSearchParams();
  for (const [name, value] of form) {
    if (typeof value === 'string') fields.append(name, value);
    else
      throw HttpError.invalid(
        name,
        `Expected \`${shown(name)}\` to be a text, got a file: send its content.`,
      );
  }
  return fields;
}

/** The query's parameters by name; each once, but for those that are lists. @throws HttpError 400. */
export function readQuery(
  query: URLSearchParams,
  known: readonly string[],
  lists: readonly string[] = [],
): Readonly<Record<string, string | undefined>> {
  for (const name of new Set(query.keys())) {
    if (!known.includes(name) && !lists.includes(name)) throw HttpError.unknown(name, [...known, ...lists]);
    if (!lists.includes(name) && query.getAll(name).length > 1)
      throw HttpError.invalid(name, `Expected \`${name}\` to be given once.`);
  }
  return Object.fromEntries(known.map((name) => [name, query.get(name) ?? undefined]));
}

/** A handle's option, which the request's own would replace. @throws HttpError 400 */
export function checkSignal(options: Readonly<Record<string, unknown>>): void {
  if (options['signal'] !== undefined)
    throw HttpError.invalid('signal', "`signal` can't be sent: close the connection to cancel the request.");
}

/** @throws HttpError 400 for a text that is no number, or an integer that would be rounded. */
export function parseNumber(name: string, text: string | undefined): number {
  const number = parseDecimal(text ?? '');
  if (text === undefined || !Number.isFinite(number))
    throw HttpError.expected(name, 'a finite number', text ?? 'nothing');
  if (isRounded(text) || isMadeWhole(text)) throw HttpError.expected(name, UNROUNDED, text);
  return number;
}
