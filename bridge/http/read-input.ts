import type { IncomingMessage } from 'node:http';

import { isRecord } from '../../src/worker/platform/is-record.ts';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';
import { decodeUtf8, mediaTypeOf, readWholeBody } from './read-body.ts';
import { readJson } from './read-json.ts';

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
  const params = new URLSearchParams(url.searchParams);
  if (request.method !== 'POST') return { params, json: {} };
  const body = await readFields(request, mainField);
  const names = new Set(body instanceof URLSearchParams ? body.keys() : Object.keys(body));
  for (const name of names) if (params.has(name)) throw givenTwice(name);
  if (!(body instanceof URLSearchParams)) return { params, json: body };
  for (const [name, value] of body) params.append(name, value);
  return { params, json: {} };
}

async function readFields(
  request: IncomingMessage,
  mainField: string,
): Promise<URLSearchParams | Readonly<Record<string, unknown>>> {
  const type = mediaTypeOf(request);
  if (type === JSON_TYPE) {
    const value = await readJson(request);
    if (isRecord(value)) return value;
    throw HttpError.invalid('body', 'Expected the body to be a JSON object.');
  }
  const refuse = (reason: string): HttpError => notReadable(type, reason);
  const body = await readWholeBody(request, refuse);
  // A client may send everything in the query, with any content type.
  if (body.length === 0) return new URLSearchParams();
  if (type === TEXT_TYPE) return new URLSearchParams({ [mainField]: decodeUtf8(body, refuse) });
  if (type === URL_ENCODED) return readUrlEncoded(decodeUtf8(body, refuse));
  if (type === MULTIPART) return readMultipart(body, request.headers['content-type'] ?? '');
  throw HttpError.unsupportedBody(`one of ${ACCEPTED.join(', ')}`);
}

/** `curl -d` calls everything a form. */
function readUrlEncoded(text: string): URLSearchParams {
  if (!/^\s*[{[]/.test(text)) return new URLSearchParams(text);
  throw notReadable(URL_ENCODED, `it looks like JSON, so send it with the header Content-Type: ${JSON_TYPE}`);
}

async function readMultipart(body: Buffer<ArrayBuffer>, contentType: string): Promise<URLSearchParams> {
  const response = new Response(body, { headers: { 'Content-Type': contentType } });
  const form = await response.formData().catch(() => {
    throw notReadable(MULTIPART, 'its parts do not follow its boundary');
  });
  const fields = new URLSearchParams();
  for (const [name, value] of form) {
    if (typeof value !== 'string')
      throw HttpError.invalid(name, `Expected \`${name}\` to be a text, got a file: send its content.`);
    fields.append(name, value);
  }
  return fields;
}

function givenTwice(name: string): HttpError {
  const message = `\`${name}\` is in the query and in the body: give it in one of them.`;
  return HttpError.invalid(name, message);
}

function notReadable(type: string, reason: string): HttpError {
  const message = `The body cannot be read as ${type}: ${reason}.`;
  return new HttpError(400, message, { code: 'INVALID_BODY' });
}
