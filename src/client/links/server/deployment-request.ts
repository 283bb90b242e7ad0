import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { badAnswer } from '../../../protocol/server-errors.ts';
import type { ServerHttp } from './server-http.ts';

interface DeploymentRequest {
  readonly http: Pick<ServerHttp, 'shownUrl' | 'post'>;
  readonly deployment: string;
  readonly input: unknown;
  readonly options: unknown;
  readonly signal: AbortSignal;
}

/** Sends an input to a deployment of another Tabserve. Its answer is what JSON makes of it. */
export async function callDeployment({
  http,
  deployment,
  input,
  options,
  signal,
}: DeploymentRequest): Promise<unknown> {
  const path = `/deployments/${encodeURIComponent(deployment)}`;
  const answer = await http.post(path, { input, options }, signal);
  return answer.json().catch(() => {
    throw badAnswer(http.shownUrl, `${path} with something that is not JSON`);
  });
}

/** @throws InvalidOptionError for a part that JSON would change or leave out, by its place. */
export function requireJson(place: string, value: unknown, around: readonly object[] = []): void {
  const isList = Array.isArray(value);
  if (isList || isPlain(value)) {
    if (around.includes(value)) throw InvalidOptionError.of(place, 'JSON, which holds no cycle', value);
    for (const [name, part] of Object.entries(value)) {
      if (part === undefined && !isList) continue;
      requireJson(place + (isList ? `[${name}]` : `.${name}`), part, [...around, value]);
    }
  } else if (value !== null && !['string', 'boolean'].includes(typeof value) && !Number.isFinite(value))
    throw InvalidOptionError.of(place, 'JSON, as it is sent to a server', value);
}

function isPlain(value: unknown): value is object {
  return isRecord(value) && Object.prototype.toString.call(value) === '[object Object]';
}
