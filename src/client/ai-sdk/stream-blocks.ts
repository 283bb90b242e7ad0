import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

import type { AnswerPart } from '../index.ts';

type Parts = Generator<LanguageModelV4StreamPart>;
type Block =
  | { readonly type: 'text' | 'reasoning'; readonly id: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; input: string };

/** Turns the parts of an answer into those of the AI SDK: blocks of text and of reasoning, and calls of tools. */
export class StreamBlocks {
  #open: Block | undefined;
  #numBlocks = 0;

  *push(part: AnswerPart): Parts {
    if (part.type === 'tool-call') {
      yield* this.end();
      const { id, name } = part;
      this.#open = { type: 'call', id, name, input: '' };
      yield { type: 'tool-input-start', id, toolName: name };
    } else if (part.type === 'tool-arguments') {
      if (this.#open?.type !== 'call') return;
      this.#open.input += part.text;
      yield { type: 'tool-input-delta', id: this.#open.id, delta: part.text };
    } else yield* this.#pushText(part.type === 'content' ? 'text' : 'reasoning', part.text);
  }

  /** Ends the open block. @param hasFailed The answer breaks off, so its last call isn't one. */
  *end(hasFailed = false): Parts {
    const block = this.#open;
    this.#open = undefined;
    if (block?.type !== 'call') {
      if (block) yield { type: `${block.type}-end`, id: block.id };
      return;
    }
    const { id, name, input } = block;
    yield { type: 'tool-input-end', id };
    if (!hasFailed) yield { type: 'tool-call', toolCallId: id, toolName: name, input };
  }

  *#pushText(type: 'text' | 'reasoning', delta: string): Parts {
    if (this.#open?.type !== type) {
      yield* this.end();
      this.#open = { type, id: String(this.#numBlocks) };
      this.#numBlocks += 1;
      yield { type: `${type}-start`, id: this.#open.id };
    }
    yield { type: `${type}-delta`, id: this.#open.id, delta };
  }
}
