import * as v from 'valibot';

import { corruptTokenizer, parsePart, unsupportedPart } from './tokenizer-parts.ts';

const tokenId = v.pipe(v.number(), v.integer(), v.minValue(0));
const token = v.tuple([v.string(), tokenId]);
const piece = v.union([
  v.object({ Sequence: v.object({ id: v.picklist(['A', 'B']) }) }),
  v.object({ SpecialToken: v.object({ id: v.string() }) }),
]);
type Piece = v.InferOutput<typeof piece>;

const processor = v.variant('type', [
  v.object({
    type: v.literal('TemplateProcessing'),
    single: v.array(piece),
    pair: v.array(piece),
    special_tokens: v.record(v.string(), v.object({ ids: v.array(tokenId) })),
  }),
  v.object({ type: v.picklist(['BertProcessing', 'RobertaProcessing']), sep: token, cls: token }),
  v.object({ type: v.literal('ByteLevel') }),
  v.object({ type: v.literal('Sequence'), processors: v.array(v.unknown()) }),
]);
type Processor = v.InferOutput<typeof processor>;
type Adding = Exclude<Processor, { type: 'ByteLevel' | 'Sequence' }>;

/** Special tokens in order, and the places of the texts. */
export type Frame = readonly (readonly number[] | 'A' | 'B')[];

/** Special tokens around one text, and around two. */
export interface Frames {
  readonly single: Frame;
  readonly pair: Frame;
}

/** Reads the post-processor of a `tokenizer.json`. @throws UnsupportedModelError, ModelFileCorruptError. */
export function readFrames(given: unknown): Frames {
  const [adding, ...others] = addingIn(given);
  if (others.length > 0)
    throw unsupportedPart('post-processor', { type: 'Sequence' }, 'of which two parts add special tokens');
  if (!adding) return { single: ['A'], pair: ['A', 'B'] };
  if (adding.type === 'TemplateProcessing') {
    const { single, pair, special_tokens: tokens } = adding;
    return {
      single: single.map((one) => placeOf(one, tokens)),
      pair: pair.map((one) => placeOf(one, tokens)),
    };
  }
  const [cls, sep] = [[adding.cls[1]], [adding.sep[1]]];
  const between = adding.type === 'RobertaProcessing' ? [...sep, ...sep] : sep;
  return { single: [cls, 'A', sep], pair: [cls, 'A', between, 'B', sep] };
}

/** The ids of a text with its special tokens, if they are asked for. */
export function framed(frame: Frame, text: readonly number[], addSpecialTokens: boolean): number[] {
  return frame.flatMap((part) => {
    if (part === 'A') return text;
    return part === 'B' || !addSpecialTokens ? [] : part;
  });
}

function addingIn(given: unknown): readonly Adding[] {
  if (given === null || given === undefined) return [];
  const parsed = parsePart('post-processor', processor, given);
  if (parsed.type === 'Sequence') return parsed.processors.flatMap(addingIn);
  return parsed.type === 'ByteLevel' ? [] : [parsed];
}

function placeOf(
  given: Piece,
  tokens: Readonly<Record<string, { readonly ids: readonly number[] }>>,
): Frame[number] {
  if ('Sequence' in given) return given.Sequence.id;
  const { id } = given.SpecialToken;
  const known = Object.hasOwn(tokens, id) ? tokens[id] : undefined;
  if (!known) throw corruptTokenizer(`its post-processor adds ${id}, and doesn't say which token that is`);
  return known.ids;
}
