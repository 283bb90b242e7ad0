/** Half-width voiced marks decompose into combining ones. */
const LONG_RUN = /[^]?[\p{M}\uff9e\uff9f]{32,}/gu;

/**
 * Puts long runs of combining marks in the order that normalization gives them. Browsers take time that grows with the square of
 * a run whose marks are not in order.
 */
export function orderMarks(text: string, form: 'NFD' | 'NFKD'): string {
  return text.replace(LONG_RUN, (run) => {
    const characters = Array.from(run).flatMap((character) => Array.from(character.normalize(form)));
    const classes = classesOf(new Set(characters));
    let ordered = '';
    let marks: string[] = [];
    const classOf = (character: string) => classes.get(character) ?? 0;
    const flush = () => {
      ordered += marks.toSorted((a, b) => classOf(a) - classOf(b)).join('');
      marks = [];
    };
    for (const character of characters) {
      if (classes.has(character)) marks.push(character);
      else {
        flush();
        ordered += character;
      }
    }
    flush();
    return ordered;
  });
}

/** Numbers in the order of the marks' canonical combining classes, by mark. What nothing moves over has none. */
function classesOf(characters: ReadonlySet<string>): ReadonlyMap<string, number> {
  const marks = [...characters].filter(isMovable).toSorted((a, b) => {
    if (moves(b, a)) return -1;
    return moves(a, b) ? 1 : 0;
  });
  const classes = new Map<string, number>();
  let last = 0;
  for (const [index, mark] of marks.entries()) {
    if (moves(mark, marks[index - 1] ?? mark)) last += 1;
    classes.set(mark, last);
  }
  return classes;
}

/** Two marks of the lowest and the highest class. */
const [LOWEST, HIGHEST] = ['\u0334', '\u0345'] as const;

function isMovable(character: string): boolean {
  return moves(character, LOWEST) || moves(HIGHEST, character);
}

/** Whether the second of two decomposed characters goes before the first. */
function moves(first: string, second: string): boolean {
  return `${first}${second}`.normalize('NFD') !== first + second;
}
