import { formatCount } from '../parts/format.ts';

/** JSON as lists that open and close. Nothing moves while more of it comes. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <ul className="json-tree">
      <JsonNode value={value} />
    </ul>
  );
}

interface JsonNodeProps {
  /** Of a property, or the number of an item. */
  readonly name?: string;
  readonly value: unknown;
}

function JsonNode({ name, value }: JsonNodeProps) {
  const label = name !== undefined && <span className="json-name">{name}: </span>;
  if (typeof value !== 'object' || value === null)
    return (
      <li>
        {label}
        <code data-type={typeof value}>{value === undefined ? '…' : JSON.stringify(value)}</code>
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
            <JsonNode key={key} name={key} value={entry} />
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
