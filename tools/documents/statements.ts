/** A statement of a code block, as somebody pastes it into a console. */
export interface Statement {
  readonly source: string;
  readonly declares?: string;
  /** The value that the comment behind it begins with, as in `// 4` and `// [2, 4], in one batch`. */
  readonly expected?: unknown;
  /** The fields that the comment behind it names, as in `// state, role, …`. */
  readonly fields?: readonly string[];
}

/** @param code Formatted: only the first line of a statement begins at the margin, but for closing brackets. */
export function statementsOf(code: string): readonly Statement[] {
  return code
    .split(/\n(?=[^\s})\]])/)
    .map((source) => source.trim())
    .filter((source) => source !== '' && !/^\/\/.*$/.test(source))
    .map((source) => {
      const declares = /^const \[?(\w+)\]? =/.exec(source)?.[1];
      return { source, ...(declares !== undefined && { declares }), ...claimOf(source) };
    });
}

const LITERAL = /^(?:-?\d[\d.]*|'[^']*'|\[[^\]]*\]|true|false)(?=[,;:]? |$)/;
const FIELDS = /^[a-z]\w*(?:, [a-z]\w*)+(?=, …|$)/i;

/** What the last comment behind code says of its value. */
function claimOf(source: string): Pick<Statement, 'expected' | 'fields'> {
  const comment = [...source.matchAll(/; *\/\/ (.*)$/gm)].at(-1)?.[1] ?? '';
  const [literal] = LITERAL.exec(comment) ?? [];
  if (literal !== undefined) return { expected: JSON.parse(literal.replaceAll("'", '"')) };
  const [fields] = FIELDS.exec(comment) ?? [];
  return fields === undefined ? {} : { fields: fields.split(', ') };
}
