import type { GenerationTool } from '../../../batching/options/tools.ts';
import type { ArgumentsReader } from './arguments-reader.ts';
import type { CallKind } from './call-heads.ts';
import type { ToolSyntax } from './tool-syntax.ts';

type CallPart =
  | { readonly type: 'call'; readonly name: string }
  /** Not empty. */
  | { readonly type: 'arguments'; readonly json: string };

interface CallParts {
  readonly parts: readonly CallPart[];
  /** The text behind the calls, once they are over. */
  readonly rest?: string;
}

type State = 'begin' | 'call' | 'arguments' | 'tail' | 'behind' | 'over';

interface OpenCall {
  readonly kind: CallKind;
  readonly reader: ArgumentsReader;
}

/** Reads one or more calls with one opening. Cutting their text anywhere gives the same calls. */
export class CallsReader {
  readonly #syntax: ToolSyntax;
  readonly #tools: readonly GenerationTool[];
  #held = '';
  #state: State = 'begin';
  #isList = false;
  #hasCalls = false;
  #call: OpenCall | undefined;

  constructor(syntax: ToolSyntax, tools: readonly GenerationTool[]) {
    this.#syntax = syntax;
    this.#tools = tools;
  }

  /** Whether there was a call. Until then the text may turn out to be no call. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  /** @param text The next piece, from the opening on. */
  push(text: string): CallParts {
    this.#held += text;
    const parts: CallPart[] = [];
    while (this.#read(parts));
    return { parts, ...(this.#state === 'over' && { rest: this.#held }) };
  }

  /** Reads as far as the next change of state. Returns whether there was one. */
  #read(parts: CallPart[]): boolean {
    switch (this.#state) {
      case 'begin':
        return this.#readOpening();
      case 'call':
        return this.#readHead(parts);
      case 'arguments':
        return this.#readArguments(parts);
      case 'tail': {
        const rest = this.#call?.kind.readTail(this.#held);
        return rest !== undefined && this.#enter('behind', rest);
      }
      case 'behind':
        return this.#readBehind();
      case 'over':
        return false;
      default:
        return this.#state satisfies never;
    }
  }

  #readOpening(): boolean {
    const { opening, mayBeList } = this.#syntax;
    const text = (this.#held.startsWith(opening) ? this.#held.slice(opening.length) : this.#held).trimStart();
    if (text === '') return false;
    this.#isList = mayBeList && text.startsWith('[');
    return this.#enter('call', this.#isList ? text.slice(1) : text);
  }

  #readHead(parts: CallPart[]): boolean {
    const text = this.#held.trimStart();
    if (text === '') return false;
    if (this.#isList && text.startsWith(']')) return this.#enter('behind', text);
    const found = this.#syntax.kinds.map((kind) => ({ kind, head: kind.readHead(text) }));
    for (const { kind, head } of found) {
      if (typeof head === 'string') continue;
      const { name, json, rest } = head;
      const tool = this.#tools.find((offered) => offered.name === name);
      if (!tool && this.#syntax.isBare) break;
      parts.push({ type: 'call', name });
      if (json !== undefined) parts.push({ type: 'arguments', json });
      this.#hasCalls = true;
      this.#call = { kind, reader: kind.createReader(tool ?? { name }) };
      return this.#enter(json === undefined ? 'arguments' : 'tail', rest);
    }
    return !found.some(({ head }) => head === 'more') && this.#enter('over');
  }

  #readArguments(parts: CallPart[]): boolean {
    const { json = '', rest } = this.#call?.reader.push(this.#held) ?? {};
    if (json !== '') parts.push({ type: 'arguments', json });
    this.#held = '';
    return rest !== undefined && this.#enter('tail', rest);
  }

  /** Another call, or the end of the calls. */
  #readBehind(): boolean {
    const { close, mayBeLines } = this.#syntax;
    if (!this.#isList && close === '') return this.#enter('over');
    const text = this.#held.trimStart();
    if (text === '') return false;
    if (this.#isList && text.startsWith(',')) return this.#enter('call', text.slice(1));
    if (this.#isList && text.startsWith(']')) {
      this.#isList = false;
      return this.#enter('behind', text.slice(1));
    }
    if (text.startsWith(close)) return this.#enter('over', text.slice(close.length));
    return !close.startsWith(text) && this.#enter(mayBeLines ? 'call' : 'over');
  }

  #enter(state: State, held = this.#held): true {
    this.#state = state;
    this.#held = held;
    return true;
  }
}
