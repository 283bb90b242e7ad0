import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';

import type { FileStore } from './file-store.ts';
import { shown } from '../../src/batching/base/errors.ts';
import { isDiskFull } from '../base/errors.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { notReadable, storageFull, uploadTooLarge } from '../http/http-errors.ts';
import { letBodyCome, mediaTypeOf } from '../http/read-body.ts';

/** A multipart form with one file. */
export interface Upload {
  readonly fields: ReadonlyMap<string, string>;
  readonly filename: string;
  /** Id of the content, which belongs to no file yet. */
  readonly id: string;
}

/** Boundaries, headers and fields around the file. */
const MAX_FORM_BYTES = 2 ** 16;

const LIMITS = { files: 2, fields: 16, fieldSize: 1024, headerPairs: 32, headerSize: 4096 };

const MAX_NAME_LENGTH = 255;

/**
 * Reads a form while it arrives, and stores the content of its field `file`.
 *
 * @throws HttpError 400 for another form, 413 for a larger file, 415 for another body, 507 for a full disk.
 */
export async function receiveUpload(
  request: IncomingMessage,
  maxBytes: number,
  files: Pick<FileStore, 'write' | 'remove'>,
): Promise<Upload> {
  const { 'content-type': type = '', 'content-length': length = '0' } = request.headers;
  if (mediaTypeOf(request) !== 'multipart/form-data') throw HttpError.unsupportedBody('multipart/form-data');
  if (Number(length) > maxBytes + MAX_FORM_BYTES) throw uploadTooLarge(maxBytes);
  const form = createForm(type, maxBytes);
  const failed = new AbortController();
  const fields = new Map<string, string>();
  let content: Readable | undefined;
  let saved: Promise<string> | undefined;
  let filename = '';
  form.on('error', () => failed.abort(malformed('it ends before its last boundary')));
  form.on('field', (name, value) => {
    if (fields.has(name))
      failed.abort(HttpError.invalid(name, `Expected \`${shown(name)}\` to be given once.`));
    fields.set(name, value);
  });
  form.on('file', (name, stream, given) => {
    // An error without a listener would end the process. The reader of the content, or the form, has it too.
    stream.on('error', () => undefined);
    if (name !== 'file' || content) {
      stream.resume();
      failed.abort(malformed(`it has a file in \`${name}\``));
      return;
    }
    [content, filename] = [stream, given];
    stream.once('limit', () => stream.destroy(uploadTooLarge(maxBytes)));
    saved = files.write(stream);
    saved.catch((error: unknown) =>
      failed.abort(isDiskFull(error) ? storageFull({ Connection: 'close' }) : error),
    );
  });
  letBodyCome(request);
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      failed.signal.throwIfAborted();
      if (!form.write(piece)) await once(form, 'drain', failed);
    }
    form.end();
    await once(form, 'finish', failed);
    const id = await saved;
    if (id === undefined) throw HttpError.expected('file', 'a file', 'nothing');
    return { fields, filename: (filename || 'file').slice(0, MAX_NAME_LENGTH), id };
  } catch (error) {
    const reason: unknown = failed.signal.aborted ? failed.signal.reason : error;
    content?.destroy(reason instanceof Error ? reason : undefined);
    await saved?.then((id) => files.remove(id)).catch(() => undefined);
    throw reason;
  }
}

function createForm(type: string, maxBytes: number): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': type }, limits: { ...LIMITS, fileSize: maxBytes } });
  } catch {
    throw malformed('its Content-Type has no boundary');
  }
}

function malformed(reason: string): HttpError {
  return notReadable('multipart/form-data', reason);
}
