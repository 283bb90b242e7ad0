import type { GenerationTool } from '../../../batching/options/tools.ts';
import { parseJson } from '../../../platform/parse-json.ts';
import type { ArgumentsReader } from './arguments-reader.ts';
import type { CallKind, HeadReader } from './call-heads.ts';
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
  readonly name: string;
  readonly reader: ArgumentsReader;
  /** The arguments so far, of a call that is given whole. */
  json: string;
}

/** Reads one or more calls with one opening. Cutting their text anywhere gives the same calls. */
export class CallsReader {
  readonly #syntax: ToolSyntax;
  readonly #tools: readonly GenerationTool[];
  #held = '';
  #state: State = 'begin';
  #isList = false;
  #hasCalls = false;
  #heads: readonly { readonly kind: CallKind; readonly head: HeadReader }[] = [];
  #call: OpenCall | undefined;
  /** The text of a call that may turn out to be none, with the mark before it. */
  #text = '';

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

  /** The call whose arguments aren't over, as far as they go. */
  get begunCall(): readonly CallPart[] {
    return this.#isHeld ? partsOf(this.#call) : [];
  }

  /** The text of that call. */
  get begunText(): string {
    return this.#isHeld ? this.#text : '';
  }

  get #isHeld(): boolean {
    return this.#state === 'arguments' && this.#call?.kind.isWhole === true;
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
    if (this.#heads.length === 0) {
      const begun = this.#held.trimStart();
      if (this.#text !== '') this.#text += this.#held.slice(0, this.#held.length - begun.length);
      this.#held = begun;
      if (begun === '') return false;
      if (this.#isList && this.#held.startsWith(']')) return this.#enter('behind');
      this.#heads = this.#syntax.kinds.map((kind) => ({ kind, head: kind.createHead() }));
    }
    const text = this.#held;
    this.#held = '';
    this.#text += text;
    const found = this.#heads.map(({ kind, head }) => ({ kind, head: head.push(text) }));
    for (const { kind, head } of found) {
      if (typeof head === 'string') continue;
      const { name, json, rest } = head;
      const tool = this.#tools.find((offered) => offered.name === name);
      if (!tool && this.#syntax.isBare) break;
      this.#call = { kind, name, reader: kind.createReader(tool ?? { name }), json: json ?? '' };
      if (!kind.isWhole) this.#give(parts);
      // The arguments add their own text.
      else this.#text = this.#text.slice(0, this.#text.length - rest.length);
      return this.#enter(json === undefined ? 'arguments' : 'tail', rest);
    }
    return !found.some(({ head }) => head === 'more') && this.#enter('over', this.#text);
  }

  #readArguments(parts: CallPart[]): boolean {
    const call = this.#call;
    if (!call) return false;
    const text = this.#held;
    const { json, rest } = call.reader.push(text);
    this.#held = '';
    if (call.kind.isWhole) {
      this.#text += text;
      call.json += json;
      if (rest === undefined) return false;
      if (parseJson(call.json) === undefined) return this.#enter('over', this.#text);
      this.#give(parts);
    } else if (json !== '') parts.push({ type: 'arguments', json });
    return rest !== undefined && this.#enter('tail', rest);
  }

  #give(parts: CallPart[]): void {
    parts.push(...partsOf(this.#call));
    this.#hasCalls = true;
  }

  /** Another call, or the end of the calls. */
  #readBehind(): boolean {
    const { close, mayBeLines, between } = this.#syntax;
    if (!this.#isList && close === '' && between === undefined) return this.#enter('over');
    const text = this.#held.trimStart();
    if (text === '') return false;
    if (between !== undefined && text.startsWith(between)) {
      this.#enter('call', text.slice(between.length));
      this.#text = between;
      return true;
    }
    if (this.#isList && text.startsWith(',')) return this.#enter('call', text.slice(1));
    if (this.#isList && text.startsWith(']')) {
      this.#isList = false;
      return this.#enter('behind', text.slice(1));
    }
    if (close === '') return this.#enter('over');
    if (text.startsWith(close)) return this.#enter('over', text.slice(close.length));
    return !close.startsWith(text) && this.#enter(mayBeLines ? 'call' : 'over');
  }

  #enter(state: State, held = this.#held): true {
    if (state === 'call') {
      this.#heads = [];
      this.#text = '';
    }
    this.#state = state;
    this.#held = held;
    return true;
  }
}

function partsOf(call: OpenCall | undefined): readonly CallPart[] {
  if (!call) return [];
  const { name, json } = call;
  return [{ type: 'call', name }, ...(json === '' ? [] : [{ type: 'arguments', json } as const])];
}
