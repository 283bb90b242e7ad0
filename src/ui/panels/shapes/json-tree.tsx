import { formatCount, formatJson } from '../../parts/format.ts';

/** The deepest nesting of lists. Deeper values are shown on one line. */
const MAX_DEPTH = 24;

/** JSON as lists that open and close. Nothing moves while more of it comes. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <ul className="json-tree">
      <JsonNode value={value} depth={0} />
    </ul>
  );
}

interface JsonNodeProps {
  /** The property's name, or the item's number. */
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}

function JsonNode({ name, value, depth }: JsonNodeProps) {
  const label = name !== undefined && <span className="muted">{name}: </span>;
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH)
    return (
      <li>
        {label}
        <code data-type={typeof value}>{value === undefined ? '…' : formatJson(value)}</code>
      </li>
    );
  const entries = Object.entries(value);
  return (
    <li>
      <details open>
        <summary>
          {label}
          <span className="note">{describeSize(entries.length, Array.isArray(value))}</span>
        </summary>
        <ul>
          {entries.map(([key, entry]) => (
            <JsonNode key={key} name={key} value={entry} depth={depth + 1} />
          ))}
        </ul>
      </details>
    </li>
  );
}

function describeSize(size: number, isList: boolean): string {
  const unit = isList ? 'item' : 'field';
  return `${formatCount(size)} ${unit}${size === 1 ? '' : 's'}`;
}
