import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import type { BatchStore, LazyBatchStore } from '../batches/batch-store.ts';
import type { FileObject } from '../batches/file-store.ts';
import { receiveUpload } from '../batches/receive-upload.ts';
import { pageOf } from '../batches/records.ts';
import { STALL_TIMEOUT_MS, type Exchange } from '../http/exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { readQuery } from '../http/read-input.ts';
import type { Route } from '../http/router.ts';
import { PAGE_FIELDS, readPage } from './read-page.ts';

/** OpenAI's. */
const LIMITS = { byDefault: 10_000, max: 10_000 };

const CONTENT = '/content';

/** `/v1/files` as OpenAI's: the inputs and outputs of batches. */
export function fileRoutes(store: LazyBatchStore, maxUploadBytes: number): readonly Route[] {
  return [
    {
      path: '/v1/files',
      methods: {
        POST: async (exchange) => upload(await store.get(), exchange, maxUploadBytes),
        GET: async (exchange) => sendList(await store.get(), exchange),
      },
    },
    {
      path: '/v1/files/*',
      methods: {
        async GET(exchange) {
          const { files } = await store.get();
          const { rest } = exchange;
          const isContent = rest.endsWith(CONTENT);
          const file = files.get(isContent ? rest.slice(0, -CONTENT.length) : rest);
          if (isContent) await sendContent(exchange, file, files.contentPath(file.id));
          else exchange.sendJson(200, file);
        },
        async DELETE(exchange) {
          const { rest: id } = exchange;
          const batches = await store.get();
          await batches.removeFile(id);
          exchange.sendJson(200, { id, object: 'file', deleted: true });
        },
      },
    },
  ];
}

async function upload({ files }: BatchStore, exchange: Exchange, maxBytes: number): Promise<void> {
  const { fields, filename, id } = await receiveUpload(exchange.request, maxBytes, files);
  try {
    const { purpose, ...others } = Object.fromEntries(fields);
    const [other] = Object.keys(others);
    if (other !== undefined) throw HttpError.unknown(other, ['file', 'purpose']);
    if (purpose !== 'batch') throw HttpError.expected('purpose', 'batch', purpose ?? 'nothing');
    exchange.sendJson(200, await files.add(id, { filename, purpose }));
  } catch (error) {
    await files.remove(id);
    throw error;
  }
}

function sendList({ files }: BatchStore, exchange: Exchange): void {
  const query = readQuery(exchange.url.searchParams, [...PAGE_FIELDS, 'order', 'purpose']);
  const { order = 'desc', purpose } = query;
  if (order !== 'asc' && order !== 'desc') throw HttpError.expected('order', 'asc or desc', order);
  const wanted = files.all.filter((file) => purpose === undefined || file.purpose === purpose);
  exchange.sendJson(200, pageOf(order === 'desc' ? wanted : wanted.toReversed(), readPage(query, LIMITS)));
}

async function sendContent({ response, request }: Exchange, file: FileObject, path: string): Promise<void> {
  // Cuts a client that stops reading.
  request.socket.setTimeout(STALL_TIMEOUT_MS);
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': file.bytes });
  await pipeline(createReadStream(path), response);
}
