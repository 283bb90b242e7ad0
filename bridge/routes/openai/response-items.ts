import type { AnswerPart } from '../../../src/client/index.ts';
import { wholeArguments } from './whole-arguments.ts';

export type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';
type Send = (type: string, fields: object) => void;

/** An item that still grows. */
interface OpenItem {
  readonly kind: keyof typeof KINDS;
  readonly id: string;
  /** Id of a call. */
  readonly call: { readonly call_id: string; readonly name: string } | undefined;
  text: string;
  readonly logprobs: object[];
}

/** How each part of an answer becomes an item: the beginning of its ID, and its content. */
const KINDS = {
  content: {
    prefix: 'msg',
    event: 'output_text',
    partOf: (text: string, logprobs: readonly object[]): object => ({
      type: 'output_text',
      text,
      annotations: [],
      logprobs,
    }),
  },
  reasoning: {
    prefix: 'rs',
    event: 'reasoning_text',
    partOf: (text: string): object => ({ type: 'reasoning_text', text }),
  },
  'tool-call': { prefix: 'fc', event: 'function_call_arguments', partOf: undefined },
} as const;

/** The items of a response, made of the parts of its answer as they come; and the events that tell of them. */
export class ResponseItems {
  readonly #requestId: string;
  readonly #send: Send;
  readonly #items: object[] = [];
  #open: OpenItem | undefined;

  /** @param send Called with each event. */
  constructor(requestId: string, send: Send) {
    this.#requestId = requestId;
    this.#send = send;
  }

  /** @param logprobs Of the tokens since the last part. */
  push(part: AnswerPart, logprobs: readonly object[] = []): void {
    if (part.type === 'tool-arguments') this.#grow(part.text, []);
    else if (part.type === 'tool-call') this.#begin('tool-call', { call_id: part.id, name: part.name });
    else {
      if (this.#open?.kind !== part.type) this.#begin(part.type);
      this.#grow(part.text, logprobs);
    }
  }

  /** Ends the last item, and returns all. An answer without any is an empty message. */
  end(status: Status): readonly object[] {
    if (!this.#open && this.#items.length === 0) this.#begin('content');
    this.#close(status);
    return this.#items;
  }

  #begin(kind: OpenItem['kind'], call?: OpenItem['call']): void {
    this.#close('completed');
    const suffix = this.#items.length === 0 ? '' : `_${this.#items.length}`;
    const item = {
      kind,
      id: `${KINDS[kind].prefix}_${this.#requestId}${suffix}`,
      call,
      text: '',
      logprobs: [],
    };
    this.#open = item;
    this.#send('response.output_item.added', { ...this.#place, item: itemOf(item, 'in_progress', true) });
    const part = KINDS[kind].partOf?.('', []);
    if (part) this.#tell('response.content_part.added', { part });
  }

  #grow(delta: string, logprobs: readonly object[]): void {
    const item = this.#open;
    if (!item || (delta === '' && logprobs.length === 0)) return;
    item.text += delta;
    item.logprobs.push(...logprobs);
    const { event } = KINDS[item.kind];
    this.#tell(`response.${event}.delta`, { delta, ...(item.kind === 'content' && { logprobs }) });
  }

  #close(status: Status): void {
    const item = this.#open;
    if (!item) return;
    const { kind, text, logprobs, call } = item;
    const { event, partOf } = KINDS[kind];
    if (call) this.#tell(`response.${event}.done`, { name: call.name, arguments: text });
    else this.#tell(`response.${event}.done`, { text, ...(kind === 'content' && { logprobs }) });
    if (partOf) this.#tell('response.content_part.done', { part: partOf(text, logprobs) });
    const done = itemOf(item, call ? statusOfCall(text, status) : status, false);
    this.#send('response.output_item.done', { ...this.#place, item: done });
    this.#items.push(done);
    this.#open = undefined;
  }

  get #place() {
    return { output_index: this.#items.length };
  }

  /** Sends an event about the open item. */
  #tell(type: string, fields: object): void {
    const hasParts = this.#open && KINDS[this.#open.kind].partOf;
    const place = { item_id: this.#open?.id, ...this.#place, ...(hasParts && { content_index: 0 }) };
    this.#send(type, { ...place, ...fields });
  }
}

/** A call is whole where its arguments are, wherever the answer was cut. */
function statusOfCall(json: string, ofAnswer: Status): Status {
  return wholeArguments(json, ofAnswer !== 'completed') === undefined ? 'incomplete' : 'completed';
}

function itemOf({ kind, id, call, text, logprobs }: OpenItem, status: Status, isNew: boolean): object {
  if (kind === 'tool-call') return { id, type: 'function_call', status, ...call, arguments: text };
  const content = isNew ? [] : [KINDS[kind].partOf(text, logprobs)];
  if (kind === 'reasoning') return { id, type: 'reasoning', status, summary: [], content };
  return { id, type: 'message', role: 'assistant', status, content };
}
