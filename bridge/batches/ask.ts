import { systemClock } from '../../src/batching/base/clock.ts';
import { writeOrderedJson } from '../../src/batching/base/ordered-json.ts';
import { isRecord } from '../../src/platform/is-record.ts';
import { parseJson } from '../../src/platform/parse-json.ts';
import { badAnswer } from '../../src/protocol/server-errors.ts';
import { untilAborted } from '../../src/platform/until-aborted.ts';
import { BATCH_PEER } from '../../src/protocol/requests.ts';
import {
  checkModelName,
  checkNoPriority,
  type AnswerBody,
  type ClientRights,
  type RequestContext,
} from '../http/exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { toHttpError } from '../http/to-http-error.ts';
import { targetBusy } from '../http/http-errors.ts';
import { fetchTarget, type ForwardTarget } from '../forward/fetch-target.ts';
import { seedOf, type AskRow, type RowAnswer } from './run-rows.ts';
import type { BatchUrl, Row } from './rows.ts';

/** A rejected attempt is repeated after a pause, which doubles up to the last one. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2000;

/** Called when a row has to wait, with the reason. */
export type OnWait = (reason: HttpError) => void;

/** Asks rows as the routes ask the tab. Rows wait while no tab can serve. */
export function askTab(
  answers: Readonly<Record<BatchUrl, AnswerBody>>,
  { allowsAnyModel, allowsPriority }: ClientRights,
  onWait?: OnWait,
): AskRow {
  return (row, { requestId, createdAt, signal }) => {
    const answer = answers[row.url];
    const context: RequestContext = {
      requestId,
      createdAt,
      signal,
      hasContent: false,
      callerOf: () => [BATCH_PEER],
      checkPriority: (priority) => {
        if (!allowsPriority) checkNoPriority(priority);
      },
      checkModel: (asked, served) => {
        if (!allowsAnyModel) checkModelName(asked, served);
      },
    };
    return untilAnswered(
      async () => ({
        status: 200,
        body: repeatable(await answer(bodyOf(row), context), requestId),
      }),
      signal,
      onWait,
    );
  };
}

/** Asks rows at an OpenAI-compatible server. Rows wait while it can't be reached, or is overloaded. */
export function askTarget(target: ForwardTarget, onWait?: OnWait): AskRow {
  return (row, { requestId, signal }) =>
    untilAnswered(() => attemptTarget(target, row, requestId, signal), signal, onWait);
}

async function attemptTarget(
  target: ForwardTarget,
  row: Row,
  requestId: string,
  signal: AbortSignal,
): Promise<RowAnswer> {
  const { model } = target;
  const answer = await fetchTarget(target, row.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': requestId },
    body: writeOrderedJson({ ...(model !== undefined && { model }), ...bodyOf(row) }) ?? '',
    signal,
  });
  const { status } = answer;
  const text = await answer.text();
  if (WAITING.has(status)) throw targetBusy(target.url, status);
  const body = parseJson(text);
  if (isRecord(body)) return { status, body };
  if (status < 400) throw badAnswer(target.url, 'something that is not a JSON object');
  return { status, body: new HttpError(status, text, { code: 'SERVER_REFUSED' }).toJSON() };
}

/** @throws HttpError 400 for a row that asks for a stream. */
function bodyOf(row: Row): object {
  const { body } = row;
  if (body['stream'] === true) {
    const message = '`stream` is not for batches, whose answers are whole: leave it out.';
    throw HttpError.invalid('stream', message);
  }
  return row.url === '/v1/embeddings' ? body : { ...body, seed: body['seed'] ?? seedOf(row) };
}

/** Statuses of a server that may answer the same request later, with another key or fewer requests. */
const WAITING: ReadonlySet<number> = new Set([401, 403, 429, 503, 504]);

/** A tab that has no model of the row's kind has none to restore. */
function mayComeLater({ status, code }: HttpError): boolean {
  return code === 'SERVER_UNREACHABLE' || (WAITING.has(status) && !/^NO_(?:ENCODER|MODEL)$/.test(code ?? ''));
}

/** Repeats an attempt that fails because no server can answer. Any other failure is the row's answer. */
async function untilAnswered(
  attempt: () => Promise<RowAnswer>,
  signal: AbortSignal,
  onWait: OnWait = () => undefined,
): Promise<RowAnswer> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      const reason = toHttpError(error);
      if (!mayComeLater(reason)) return { status: reason.status, body: reason.toJSON() };
      onWait(reason);
    }
    await pause(pauseMs, signal);
  }
}

/** Rejects with the signal's reason when it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancelTimer = systemClock.setTimer(ms, resolve);
  await untilAborted(promise, signal).finally(cancelTimer);
}

/**
 * The answer without what differs from run to run: how much of the prompt came from the cache depends on the rows beside it, and
 * a tool call's id on the connection.
 */
function repeatable(answer: object, requestId: string): object {
  let numCalls = 0;
  const text = JSON.stringify(answer, (key, value: unknown) => {
    if (key === 'prompt_tokens_details') return undefined;
    if (key !== 'tool_calls' || !Array.isArray(value)) return value;
    return value.map((call: object) => ({ ...call, id: `call_${requestId}_${(numCalls += 1)}` }));
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the JSON of an object
  return JSON.parse(text) as object;
}
