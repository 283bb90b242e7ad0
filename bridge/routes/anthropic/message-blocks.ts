import type { AnswerPart } from '../../../src/client/index.ts';
import { wholeArguments } from '../openai/whole-arguments.ts';

type Send = (type: string, fields: object) => void;

interface OpenBlock {
  /** As it is when it begins. */
  readonly block: Readonly<Record<string, unknown>> & { readonly type: keyof typeof KINDS };
  text: string;
}

/** How each kind of block grows, and what it is in the end; undefined where its text isn't whole. */
const KINDS = {
  text: {
    deltaOf: (text: string): object => ({ type: 'text_delta', text }),
    endOf: (text: string): object | undefined => ({ text }),
  },
  thinking: {
    deltaOf: (thinking: string): object => ({ type: 'thinking_delta', thinking }),
    endOf: (thinking: string): object | undefined => ({ thinking }),
  },
  tool_use: {
    deltaOf: (json: string): object => ({ type: 'input_json_delta', partial_json: json }),
    endOf: (json: string, isEndCut: boolean): object | undefined => {
      const input = wholeArguments(json, isEndCut);
      return input === undefined ? undefined : { input };
    },
  },
};

/** The blocks of a message, made of the parts of its answer as they come; and the events that tell of them. */
export class MessageBlocks {
  readonly #send: Send;
  readonly #hidesThoughts: boolean;
  readonly #blocks: object[] = [];
  #numBegun = 0;
  #open: OpenBlock | undefined;

  /** @param send Called with each event. @param hidesThoughts Whether thinking comes without its text. */
  constructor(send: Send, hidesThoughts: boolean) {
    this.#send = send;
    this.#hidesThoughts = hidesThoughts;
  }

  push(part: AnswerPart): void {
    switch (part.type) {
      case 'content':
        return this.#add({ type: 'text', text: '' }, part.text);
      case 'reasoning':
        return this.#add({ type: 'thinking', thinking: '', signature: '' }, part.text);
      case 'tool-call':
        return this.#begin({ type: 'tool_use', id: part.id, name: part.name, input: {} });
      case 'tool-arguments':
        return this.#grow(part.text);
      default:
        return part satisfies never;
    }
  }

  /** Ends the last block, and returns all; a call that was cut isn't among them. @param isCut Whether the last block was cut. */
  end(isCut: boolean): readonly object[] {
    this.#close(isCut);
    return this.#blocks;
  }

  #add(block: OpenBlock['block'], text: string): void {
    if (text === '') return;
    if (this.#open?.block.type !== block.type) this.#begin(block);
    if (block.type !== 'thinking' || !this.#hidesThoughts) this.#grow(text);
  }

  #begin(block: OpenBlock['block']): void {
    this.#close();
    this.#open = { block, text: '' };
    this.#send('content_block_start', { index: this.#numBegun, content_block: block });
    this.#numBegun += 1;
  }

  #grow(text: string): void {
    const open = this.#open;
    if (!open || text === '') return;
    open.text += text;
    this.#send('content_block_delta', {
      index: this.#numBegun - 1,
      delta: KINDS[open.block.type].deltaOf(text),
    });
  }

  #close(isCut = false): void {
    if (!this.#open) return;
    const { block, text } = this.#open;
    this.#open = undefined;
    this.#send('content_block_stop', { index: this.#numBegun - 1 });
    const end = KINDS[block.type].endOf(text, isCut);
    if (end) this.#blocks.push({ ...block, ...end });
  }
}
