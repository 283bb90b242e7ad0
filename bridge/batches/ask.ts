import { parseOrderedJson, writeOrderedJson } from '../../src/batching/base/ordered-json.ts';
import { mayComeLater } from '../../src/jobs/may-come-later.ts';
import { SEED_OF_FILE, seedOfRow } from '../../src/jobs/row-rules.ts';
import { isRecord } from '../../src/platform/is-record.ts';
import { badAnswer } from '../../src/protocol/server-errors.ts';
import type { RequestTurn } from '../../src/protocol/requests.ts';
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
import type { AskRow, RowAnswer } from './run-rows.ts';
import type { BatchUrl, Row } from './rows.ts';

/** No address is spelled so: rows take turns among themselves. */
const OF_ROW: RequestTurn = { caller: ['batch'], isBackground: true, updates: 'end' };

/** Asks rows as the routes ask the tab. Rows wait while no tab can serve. */
export function askTab(
  answers: Readonly<Record<BatchUrl, AnswerBody>>,
  { allowsAnyModel, allowsPriority }: ClientRights,
): AskRow {
  return (row, { requestId, createdAt, signal }) => {
    const answer = answers[row.url];
    const context: RequestContext = {
      requestId,
      createdAt,
      signal,
      hasContent: false,
      turnOf: () => OF_ROW,
      checkPriority: (priority) => {
        if (!allowsPriority) checkNoPriority(priority);
      },
      checkModel: (asked, served) => {
        if (!allowsAnyModel) checkModelName(asked, served);
      },
    };
    const attempt = async () => ({
      status: 200,
      body: repeatable(await answer(bodyOf(row), context), requestId),
    });
    return answered(attempt());
  };
}

/** Asks rows at an OpenAI-compatible server. Rows wait while it can't be reached, or is overloaded. */
export function askTarget(target: ForwardTarget): AskRow {
  return (row, { requestId, signal }) => answered(attemptTarget(target, row, requestId, signal));
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
    body: writeOrderedJson(model === undefined ? bodyOf(row) : withFields({ model }, bodyOf(row))) ?? '',
    signal,
  });
  const { status } = answer;
  const text = await answer.text();
  if (mayComeLater({ code: '', status }))
    throw targetBusy(target.url, status, answer.headers.get('retry-after'));
  const body = readAnswer(text);
  if (isRecord(body)) return { status, body };
  if (status < 400) throw badAnswer(target.url, 'with something that is not a JSON object');
  return { status, body: new HttpError(status, text, { code: 'SERVER_REFUSED' }).toJSON() };
}

/** Undefined for a text that is not JSON. */
function readAnswer(text: string): unknown {
  try {
    return parseOrderedJson(text);
  } catch {
    return undefined;
  }
}

/** @throws HttpError 400 for a row that asks for a stream. */
function bodyOf(row: Row): object {
  const { body } = row;
  if (body['stream'] === true) {
    const message = '`stream` is not for batches, whose answers are whole: leave it out.';
    throw HttpError.invalid('stream', message);
  }
  const isSeeded = row.url === '/v1/embeddings' || (body['seed'] ?? null) !== null;
  return isSeeded ? body : withFields(body, { seed: seedOfRow(SEED_OF_FILE, row.index) });
}

/** Both objects' fields, of which the second one's win. A spread would change the spelling of numbers. */
function withFields(...objects: readonly [object, object]): object {
  const fields = objects.map((fieldsOf) => writeOrderedJson(fieldsOf)?.slice(1, -1) ?? '');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the JSON of an object
  return parseOrderedJson(`{${fields.filter((text) => text !== '').join(',')}}`) as object;
}

/** A tab or a server that has no model of the row's kind has none to restore. */
const NO_MODEL = /^NO_(?:ENCODER|MODEL)$/;

/** A failure is the row's answer. @throws HttpError if the row has to wait. */
async function answered(attempt: Promise<RowAnswer>): Promise<RowAnswer> {
  try {
    return await attempt;
  } catch (error) {
    const reason = toHttpError(error);
    if (mayComeLater(reason) && !NO_MODEL.test(reason.code)) throw reason;
    return { status: reason.status, body: reason.toJSON() };
  }
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
  return parseOrderedJson(text) as object;
}
