import { ServerHttp } from '../../src/client/links/server/server-http.ts';
import { readServerModel } from '../../src/protocol/openai/server-model.ts';
import { reasonOf } from '../base/errors.ts';
import type { ForwardTarget } from './fetch-target.ts';

const TIMEOUT_MS = 5000;

/** Asks the target for its models once. Resolves with the reason why it cannot serve; undefined if it can. */
export async function probeTarget(
  { url, model, apiKey }: ForwardTarget,
  timeoutMs: number = TIMEOUT_MS,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const http = new ServerHttp({ url, apiKey });
    readServerModel(url, model, await http.text('/v1/models', signal));
    return undefined;
  } catch (error) {
    return signal.aborted ? `${url} did not answer within ${timeoutMs / 1000} s.` : reasonOf(error);
  }
}
