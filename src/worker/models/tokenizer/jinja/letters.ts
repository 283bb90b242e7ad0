import { SPACE } from './lexer.ts';

/** Letters whose title case isn't the upper case of their first letter: `Ǆ` is `ǅ` in titles. */
const TITLES: ReadonlyMap<string, string> = new Map([
  ...['ǄǅǆǅǇǈǉǈǊǋǌǋǱǲǳǲ'].flatMap((all) => {
    const letters = Array.from(all);
    return [0, 4, 8, 12].flatMap((start) =>
      letters
        .slice(start, start + 3)
        .map((letter): [string, string] => [letter, letters[start + 3] ?? letter]),
    );
  }),
  ['ŉ', 'ʼN'],
]);

function titleOf(character: string): string {
  const special = TITLES.get(character);
  if (special !== undefined) return special;
  // Georgian has capitals, but no titles.
  if (/[\p{Lt}\u10d0-\u10ff]/u.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x1f80 && code <= 0x1faf) return String.fromCodePoint(code | 8);
  if (code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3) return String.fromCodePoint(code + 9);
  const upper = character.toUpperCase();
  const [first = '', ...rest] = upper;
  // An iota below a letter stays below it.
  return rest.length === 0 ? upper : first + rest.join('').replaceAll('Ι', '\u0345').toLowerCase();
}

/** `text.capitalize()`. */
export function capitalize(text: string): string {
  const [first = ''] = text;
  return titleOf(first) + text.toLowerCase().slice(first.toLowerCase().length);
}

const CASED = /[\p{Lowercase}\p{Uppercase}\p{Lt}]/u;

/** `text.title()`: a letter after one without case begins a word. */
export function title(text: string): string {
  const lower = Array.from(text.toLowerCase());
  const characters = Array.from(text);
  // Some letters become two, so that places no longer fit.
  if (lower.length !== characters.length) return titleByLetters(characters);
  return characters
    .map((character, i) => (CASED.test(characters[i - 1] ?? '') ? (lower[i] ?? '') : titleOf(character)))
    .join('');
}

function titleByLetters(characters: readonly string[]): string {
  return characters
    .map((character, i) =>
      CASED.test(characters[i - 1] ?? '') ? character.toLowerCase() : titleOf(character),
    )
    .join('');
}

export function swapCase(text: string): string {
  return Array.from(text, (character) => {
    if (/\p{Uppercase}/u.test(character)) return character.toLowerCase();
    return /\p{Lowercase}/u.test(character) ? character.toUpperCase() : character;
  }).join('');
}

/** Signs with a digit's value that aren't decimal digits, as Unicode's `Numeric_Type=Digit`. */
const DIGITS =
  '\\p{Nd}²³¹\\u1369-\\u1371\\u19da⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒\\u{10a40}-\\u{10a43}\\u{10e60}-\\u{10e68}\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}';
/** Ideographs that are numbers. */
const IDEOGRAPHS =
  '㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零\\u{f96b}\\u{f973}\\u{f978}\\u{f9b2}\\u{f9d1}\\u{f9d3}\\u{f9fd}\\u{20001}\\u{20064}\\u{200e2}\\u{20121}\\u{2092a}\\u{20983}\\u{2098c}\\u{2099c}\\u{20aea}\\u{20afd}\\u{20b19}\\u{22390}\\u{22998}\\u{23b1b}\\u{2626d}\\u{2f890}';

const whole = (set: string) => new RegExp(`^[${set}]+$`, 'u');

/** Tests of all characters of a text that isn't empty. */
export const WHOLE: Readonly<Record<string, RegExp>> = {
  isalpha: whole('\\p{L}'),
  isdecimal: whole('\\p{Nd}'),
  isdigit: whole(DIGITS),
  isnumeric: whole(`\\p{N}${IDEOGRAPHS}`),
  isalnum: whole(`\\p{L}\\p{N}`),
  isspace: new RegExp(`^[${SPACE}]+$`),
};

export function isUpper(text: string): boolean {
  return /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
}

export function isLower(text: string): boolean {
  return /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
}
