import type { ReactNode } from 'react';

import { parseNumber } from '../../parts/format.ts';
import { parseTypedJson } from '../../parts/typed-json.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { describeRange, HOUSE_FEATURES, isSwitch, parseHouse, varyHouse } from './house-features.ts';
import type { FieldErrors, FieldTexts } from './house-features.ts';

/** The form of a deployment. */
export interface QueryKind {
  readonly title: string;
  readonly hint?: string;
  readonly fields: readonly {
    readonly name: string;
    readonly label: string;
    readonly unit?: string;
    readonly hint: ReactNode;
    readonly initialText: string;
    /** 1 where it is checked, else 0. */
    readonly isSwitch?: boolean;
  }[];
  /** JSON takes several lines. */
  readonly isJson?: boolean;
  /** A field is checked when it is left, not only when the form is sent. */
  readonly isCheckedWhenLeft?: boolean;
  /** Beside “Send”, which sends one query. */
  readonly buttons: readonly {
    readonly title: string;
    readonly numQueries: number;
    /** Left out: all in one tick. */
    readonly spacingMs?: number;
  }[];
  /** The inputs of this many queries, or the errors of the fields. */
  readonly parse: (
    texts: FieldTexts,
    numQueries: number,
  ) => { readonly inputs?: readonly unknown[]; readonly errors?: FieldErrors };
}

/** The queries of the tutorial that the adder comes from. */
const NINE_NUMBERS: readonly number[] = Array.from({ length: 9 }, (_, index) => index);

const SPACING_MS = 5;

const ADDER: QueryKind = {
  title: 'Add one',
  hint: `Nine queries are the numbers 0 to 8, sent all at once or one every ${SPACING_MS} ms.`,
  fields: [
    {
      name: 'number',
      label: 'Number',
      hint: 'The answer is one more. A batch takes 200 ms, whatever its size.',
      initialText: '3',
    },
  ],
  buttons: [
    { title: 'Send 9 queries', numQueries: 9 },
    { title: `Send 9, ${SPACING_MS} ms apart`, numQueries: 9, spacingMs: SPACING_MS },
  ],
  parse: ({ number: text = '' }, numQueries) => {
    if (numQueries > 1) return { inputs: NINE_NUMBERS };
    const number = parseNumber(text);
    if (Number.isFinite(number)) return { inputs: [number] };
    return { errors: { number: `Expected a number of at most 15 digits, got “${text}”.` } };
  },
};

const HOUSE_PRICE: QueryKind = {
  title: 'House',
  hint: 'Several queries are this house and variations of it, sent all at once. They are the same every time.',
  fields: HOUSE_FEATURES.map((feature) => ({
    ...feature,
    label: isSwitch(feature) ? feature.label.replace(/ \(.*/, '') : feature.label,
    hint: isSwitch(feature) ? '' : describeRange(feature),
    isSwitch: isSwitch(feature),
    initialText: String(feature.default),
  })),
  isCheckedWhenLeft: true,
  buttons: [
    { title: 'Send 9 queries', numQueries: 9 },
    { title: 'Send 100 queries', numQueries: 100 },
  ],
  parse: (texts, numQueries) => {
    const { house, errors } = parseHouse(texts);
    return house ? { inputs: varyHouse(house, numQueries) } : { errors };
  },
};

/** For a deployment that the page doesn't know. Its own check decides on the input. */
function jsonKindOf(deployment: string): QueryKind {
  return {
    title: 'Input',
    fields: [
      {
        name: 'input',
        label: 'Input as JSON',
        hint: (
          <>
            A number, a “text” in quotes, a list or an object that <code>checkInput</code> of {deployment}{' '}
            accepts.
          </>
        ),
        initialText: '1',
      },
    ],
    isJson: true,
    buttons: [{ title: 'Send 9 queries', numQueries: 9 }],
    parse: ({ input = '' }, numQueries) => {
      try {
        return { inputs: Array<unknown>(numQueries).fill(parseTypedJson(input, 'This')) };
      } catch (caught) {
        return { errors: { input: toWireError(caught).message } };
      }
    },
  };
}

export function queryKindOf(deployment: string): QueryKind {
  if (deployment === 'adder') return ADDER;
  return deployment === 'house-price' ? HOUSE_PRICE : jsonKindOf(deployment);
}
