import type { ChartSpec } from './chart-spec.ts';

interface Face {
  readonly font: string;
  readonly lineHeight: number;
}

interface PlacedText {
  readonly text: string;
  readonly font: string;
  readonly x: number;
  readonly y: number;
}

/** The head of a chart's picture, in CSS pixels from its top left corner. */
export interface PictureHead {
  readonly texts: readonly PlacedText[];
  /** The left end of each line's sample, at the middle of its name's height. */
  readonly samples: readonly { readonly x: number; readonly y: number }[];
  readonly height: number;
}

const TITLE: Face = { font: '600 14px system-ui, sans-serif', lineHeight: 20 };
const TEXT: Face = { font: '12px system-ui, sans-serif', lineHeight: 18 };
export const SAMPLE_WIDTH = 22;
const SAMPLE_GAP = 6;
const NAME_GAP = 16;

/** Places title, subtitle, and each line's sample and name with its unit, no wider than the chart. */
export function placeHead(
  { title, subtitle, columnNames }: Pick<ChartSpec, 'title' | 'subtitle' | 'columnNames'>,
  width: number,
  widthOf: (text: string, font: string) => number,
): PictureHead {
  const texts: PlacedText[] = [];
  const samples: PictureHead['samples'][number][] = [];
  let y = 0;
  for (const [text, face] of [
    [title, TITLE],
    [subtitle, TEXT],
  ] as const) {
    for (const line of wrap(text, width, (part) => widthOf(part, face.font))) {
      texts.push({ text: line, font: face.font, x: 0, y });
      y += face.lineHeight;
    }
  }
  let x = 0;
  for (const text of columnNames.slice(1)) {
    const entryWidth = SAMPLE_WIDTH + SAMPLE_GAP + widthOf(text, TEXT.font);
    if (x > 0 && x + entryWidth > width) {
      x = 0;
      y += TEXT.lineHeight;
    }
    samples.push({ x, y: y + TEXT.lineHeight / 2 });
    texts.push({ text, font: TEXT.font, x: x + SAMPLE_WIDTH + SAMPLE_GAP, y });
    x += entryWidth + NAME_GAP;
  }
  return { texts, samples, height: y + TEXT.lineHeight };
}

/** At least one word to a line. */
function wrap(text: string, width: number, widthOf: (text: string) => number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
