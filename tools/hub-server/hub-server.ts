import type { IncomingMessage, ServerResponse } from 'node:http';

import { listen, type Listening } from '../../bridge/testing/listen.ts';
import type { HubFile, HubRepository } from './hub-repository.ts';

export interface HubRequest {
  /** `api` for the facts of a model and its list of files, else `resolve` or where that redirects to. */
  readonly kind: 'api' | 'resolve' | 'content';
  readonly id: string;
  /** Empty for the API. */
  readonly path: string;
  /** Byte range of the content; `end` is exclusive. */
  readonly begin: number;
  readonly end: number;
  /** Bytes of the body that were sent so far. */
  bytesSent: number;
}

export interface Fault {
  /** The answer is this status, without a body. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Asked before each piece of the body: a promise holds it, and `false` ends the connection. */
  readonly gate?: () => boolean | Promise<boolean>;
  /** The byte at this place of the file is another one. */
  readonly corruptAt?: number;
  readonly ignoresRange?: true;
}

export interface HubServer extends Listening {
  /** Since the last `forget`, in order of arrival. */
  readonly requests: readonly HubRequest[];
  /** Asked for every request; undefined answers it well. */
  fault: (request: HubRequest) => Fault | undefined;
  forget(): void;
}

const PIECE_BYTES = 16 * 1024;

/** Headers that the hub lets a page of any origin read. */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'X-Repo-Commit,X-Error-Code,X-Error-Message,ETag,Link,Accept-Ranges,Content-Range,X-Linked-Size,X-Linked-ETag,Retry-After',
};

/** The hub's HTTP behavior, as far as a client that downloads models meets it, on a free port of this machine. */
export async function startHubServer(repositories: readonly HubRepository[]): Promise<HubServer> {
  const mirror = new Mirror(new Map(repositories.map((repository) => [repository.id, repository])));
  return Object.assign(mirror, await listen((request, response) => void mirror.answer(request, response)));
}

class Mirror {
  readonly requests: HubRequest[] = [];
  fault: HubServer['fault'] = () => undefined;
  readonly #repositories: ReadonlyMap<string, HubRepository>;

  constructor(repositories: ReadonlyMap<string, HubRepository>) {
    this.#repositories = repositories;
  }

  forget(): void {
    this.requests.length = 0;
  }

  async answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
    const { pathname, searchParams } = new URL(message.url ?? '/', 'http://hub');
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/([^/]+)$/.exec(pathname);
    const file = /^\/([^/]+\/[^/]+)\/(resolve|content)\/([^/]+)\/(.+)$/.exec(pathname);
    if (message.method === 'OPTIONS') response.writeHead(204).end();
    else if (pathname === '/api/models') this.#answerSearch(response, searchParams);
    else if (api) this.#answerApi(response, api);
    else if (file) await this.#answerFile(message, response, file);
    else refuse(response, 404, 'EntryNotFound');
  }

  /** The fields that `expand[]` asks for, as far as the files have them; the hub counts weights, and reads `config.json`. */
  #answerSearch(response: ServerResponse, searchParams: URLSearchParams): void {
    const words = searchParams.get('search')?.toLowerCase() ?? '';
    const found = [...this.#repositories.values()].filter(({ id }) => id.toLowerCase().includes(words));
    const models = found.slice(0, Number(searchParams.get('limit') ?? 20)).map(({ id, files }) => {
      const sizeOf = (ending: string): number =>
        [...files].reduce((sum, [name, { size }]) => sum + (name.endsWith(ending) ? size : 0), 0);
      const [weights, gguf] = [sizeOf('.safetensors'), sizeOf('.gguf')];
      return {
        id,
        downloads: 1000,
        gated: false,
        ...(weights > 0 && { safetensors: { total: weights / 4 } }),
        ...(gguf > 0 && { gguf: { total: gguf / 4 } }),
      };
    });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(models));
  }

  #answerApi(response: ServerResponse, [, id = '', revision = '']: RegExpExecArray): void {
    const request: HubRequest = { kind: 'api', id, path: '', begin: 0, end: 0, bytesSent: 0 };
    const repository = this.#begin(request, revision, response);
    if (!repository) return;
    const { commit, files } = repository;
    const siblings = Array.from(files, ([rfilename, { size, oid, sha256 }]) => {
      const lfs = sha256 !== undefined && { lfs: { sha256, size, pointerSize: 134 } };
      return { rfilename, size, blobId: oid, ...lfs };
    });
    const body = { _id: commit.slice(0, 24), id, sha: commit, private: false, gated: false, siblings };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  }

  async #answerFile(
    message: IncomingMessage,
    response: ServerResponse,
    [, id = '', what, revision = '', path = '']: RegExpExecArray,
  ): Promise<void> {
    const size = this.#repositories.get(id)?.files.get(path)?.size ?? 0;
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(message.headers.range ?? '') ?? [];
    const begin = Number(first ?? 0);
    const end = last ? Math.min(Number(last) + 1, size) : size;
    const kind = what === 'content' ? 'content' : 'resolve';
    const request: HubRequest = { kind, id, path, begin, end, bytesSent: 0 };
    const repository = this.#begin(request, revision, response);
    if (!repository) return;
    const file = repository.files.get(path);
    if (!file) {
      refuse(response, 404, 'EntryNotFound');
      return;
    }
    describeFile(response, file, repository.commit);
    if (kind === 'resolve' && file.sha256 !== undefined) {
      // A signed address, as it were: the range is asked for again there.
      const location = `/${id}/content/${revision}/${path}?signature=${file.sha256.slice(0, 8)}`;
      response.writeHead(302, { Location: location }).end();
      return;
    }
    await this.#send(response, file, request, first !== undefined);
  }

  /** Undefined where the request is answered already. */
  #begin(request: HubRequest, revision: string, response: ServerResponse): HubRepository | undefined {
    this.requests.push(request);
    const fault = this.fault(request);
    const repository = this.#repositories.get(request.id);
    if (fault?.status !== undefined) {
      response.writeHead(fault.status, fault.headers).end();
      return undefined;
    }
    // The real hub answers the same for a private model and for a missing one.
    if (!repository) refuse(response, 401, 'RepoNotFound');
    else if (!['main', 'HEAD', repository.commit].includes(revision))
      refuse(response, 404, 'RevisionNotFound');
    else return repository;
    return undefined;
  }

  async #send(response: ServerResponse, file: HubFile, request: HubRequest, isRange: boolean): Promise<void> {
    const { gate, corruptAt, ignoresRange } = this.fault(request) ?? {};
    const isWhole = !isRange || ignoresRange === true;
    const [begin, end] = isWhole ? [0, file.size] : [request.begin, request.end];
    response.writeHead(isWhole ? 200 : 206, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': end - begin,
      ...(!isWhole && { 'Content-Range': `bytes ${begin}-${end - 1}/${file.size}` }),
    });
    for (let position = begin; position < end; position += PIECE_BYTES) {
      const isOpen = (await gate?.()) ?? true;
      if (response.destroyed) return;
      if (!isOpen) {
        response.destroy();
        return;
      }
      const pieceEnd = Math.min(position + PIECE_BYTES, end);
      const piece = file.read(position, pieceEnd);
      await write(response, corruptAt === undefined ? piece : corrupted(piece, corruptAt - position));
      request.bytesSent += pieceEnd - position;
    }
    response.end();
  }
}

function describeFile(response: ServerResponse, { size, oid, sha256 }: HubFile, commit: string): void {
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('X-Repo-Commit', commit);
  response.setHeader('ETag', `"${sha256 ?? oid}"`);
  if (sha256 === undefined) return;
  response.setHeader('X-Linked-Size', size);
  response.setHeader('X-Linked-ETag', `"${sha256}"`);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'X-Error-Code': code, 'Content-Type': 'text/plain' }).end(code);
}

/** Resolves once it is on its way, or the client is gone. */
function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => void response.write(bytes, () => resolve()));
}

function corrupted(bytes: Uint8Array, index: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const byte = copy[index];
  if (byte !== undefined) copy[index] = byte ^ 1;
  return copy;
}
