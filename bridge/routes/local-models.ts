import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import { LOCAL_OWNER } from '../../src/protocol/bridge-names.ts';
import type { Exchange } from '../http/exchange.ts';
import { modelFilesChanged } from '../http/http-errors.ts';
import { getRoute, type Route } from '../http/router.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import type { LocalModel } from '../local-models/local-model.ts';

/** Answers the page as a hub does that has these models: with lists of files, and with files or ranges of them. */
export function localModelRoutes(models: readonly LocalModel[]): readonly Route[] {
  const find = (exchange: Exchange, name: string | undefined): LocalModel => {
    const model = models.find(({ id }) => id === `${LOCAL_OWNER}/${name}`);
    if (!model) throw HttpError.notFound(exchange.url.pathname);
    return model;
  };
  const sendList = async (exchange: Exchange): Promise<void> => {
    const [name, , revision] = exchange.rest.split('/');
    const model = find(exchange, name);
    await requireUnchanged(model, revision);
    const siblings = [...model.files].map(async ([rfilename, file]) => {
      const sha256 = await model.digestOf(rfilename, file);
      return { rfilename, size: file.size, blobId: '', lfs: { sha256, size: file.size } };
    });
    exchange.sendJson(200, { sha: model.revision, siblings: await Promise.all(siblings) });
  };
  const sendFile = async (exchange: Exchange): Promise<void> => {
    const [name, , revision, ...path] = exchange.rest.split('/');
    const model = find(exchange, name);
    await requireUnchanged(model, revision);
    const file = model.files.get(path.join('/'));
    if (!file) throw HttpError.notFound(exchange.url.pathname);
    await send(exchange, file);
  };
  return [
    { ...getRoute(`/api/models/${LOCAL_OWNER}/*`, sendList), isPageOnly: true },
    { ...getRoute(`/${LOCAL_OWNER}/*`, sendFile), isPageOnly: true },
  ];
}

/** @throws HttpError 404 where a file was changed since the list was made. */
async function requireUnchanged(model: LocalModel, revision: string | undefined): Promise<void> {
  if (revision !== model.revision || !(await model.isUnchanged())) throw modelFilesChanged(model.id);
}

async function send(
  { request, response, signal }: Exchange,
  { path, size }: { readonly path: string; readonly size: number },
): Promise<void> {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(request.headers.range ?? '') ?? [];
  const begin = Number(first ?? 0);
  const end = last ? Math.min(Number(last) + 1, size) : size;
  const isPart = first !== undefined && begin < end;
  response.writeHead(isPart ? 206 : 200, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': isPart ? end - begin : size,
    'Accept-Ranges': 'bytes',
    ...(isPart && { 'Content-Range': `bytes ${begin}-${end - 1}/${size}` }),
  });
  await pipeline(createReadStream(path, isPart ? { start: begin, end: end - 1 } : {}), response, { signal });
}
