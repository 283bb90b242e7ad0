import type { GenerationTool } from '../../../batching/options/tools.ts';
import type { ArgumentsReader } from './arguments-reader.ts';
import { FunctionGemmaArguments } from './function-gemma.ts';
import { JsonArguments } from './json-arguments.ts';
import { PythonArguments } from './python-arguments.ts';
import { XmlArguments } from './xml-arguments.ts';

/** A call up to its arguments. */
export interface CallHead {
  readonly name: string;
  /** Arguments that came before the name. */
  readonly json?: string;
  /** The text of the arguments, or what follows them. */
  readonly rest: string;
}

/** Reads a text that begins with a call; `more` where it may become one, `none` where it is another text. */
export interface HeadReader {
  push(text: string): CallHead | 'more' | 'none';
}

/** How calls of one kind begin and go on. */
export interface CallKind {
  readonly createHead: () => HeadReader;
  /** A call is one only if all its arguments can be read: else its text stays text. Others are given while they come. */
  readonly isWhole: boolean;
  readonly createReader: (tool: GenerationTool) => ArgumentsReader;
  /** The text behind a call whose arguments are over; undefined until more comes. */
  readonly readTail: (text: string) => string | undefined;
}

/** Texts that come as they are, and greedy patterns, in order. */
type Pieces = readonly (string | RegExp)[];

const NAME = /[\w.-]+/y;
const SPACE = /\s*/y;
/** The arguments begin here. */
const ARGUMENTS = /(?:)/y;
const withoutTail = (text: string): string => text;

/** `name[ARGS]{"a": 1}` of Mistral, with or without an ID. Some models leave the mark out. */
export const NAMED_JSON: CallKind = {
  createHead: inOneOf(
    [NAME, '[ARGS]', SPACE, ARGUMENTS, '{'],
    [NAME, '[CALL_ID]', NAME, '[ARGS]', SPACE, ARGUMENTS, '{'],
    [NAME, SPACE, ARGUMENTS, '{'],
  ),
  isWhole: false,
  createReader: () => new JsonArguments(),
  readTail: withoutTail,
};

/** `call:name{a:1}` of FunctionGemma. */
export const GEMMA_CALL: CallKind = {
  createHead: inOneOf(['call:', NAME, ARGUMENTS, '{']),
  isWhole: true,
  createReader: () => new FunctionGemmaArguments(),
  readTail: withoutTail,
};

/** `<function=name>` of Qwen 3 Coder and 3.5, and what follows. */
export const XML_CALL: CallKind = {
  createHead: inOneOf(['<function=', /[^>\s]+/y, '>', ARGUMENTS]),
  isWhole: false,
  createReader: (tool) => new XmlArguments(tool),
  readTail: withoutTail,
};

/** `name(a=1)` of LFM2 and OLMo 3. */
export const PYTHON_CALL: CallKind = {
  createHead: inOneOf([NAME, '(', ARGUMENTS, /[^=,()[\]{}'"]+/y, '='], [NAME, '(', ARGUMENTS, SPACE, ')']),
  isWhole: true,
  createReader: () => new PythonArguments(),
  readTail: withoutTail,
};

function inOneOf(...ways: readonly Pieces[]): CallKind['createHead'] {
  return () => {
    let read = '';
    return {
      push(text) {
        read += text;
        const found = ways.map((pieces) => readPieces(read, pieces));
        return found.find((head) => typeof head === 'object') ?? (found.includes('more') ? 'more' : 'none');
      },
    };
  };
}

/** The first pattern is the name. */
function readPieces(text: string, pieces: Pieces): CallHead | 'more' | 'none' {
  let at = 0;
  let [name, rest]: (string | undefined)[] = [];
  for (const piece of pieces) {
    if (piece === ARGUMENTS) rest = text.slice(at);
    else if (typeof piece === 'string') {
      if (!text.startsWith(piece, at)) return piece.startsWith(text.slice(at)) ? 'more' : 'none';
      at += piece.length;
    } else {
      piece.lastIndex = at;
      const [found] = piece.exec(text) ?? [];
      if (found === undefined) return at === text.length ? 'more' : 'none';
      name ??= found;
      at += found.length;
      // It may go on.
      if (at === text.length) return 'more';
    }
  }
  return { name: name ?? '', rest: rest ?? '' };
}
