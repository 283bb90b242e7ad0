import type { LineStyle } from './chart-head.ts';

/** How a line of a chart is drawn: a bar, a dot, or a stroke with its dashes. */
export function Mark({ line }: { readonly line: Pick<LineStyle, 'color' | 'dash' | 'mark'> }) {
  const color = `var(${line.color})`;
  return (
    <svg width="12" height="8" aria-hidden="true">
      {line.mark === 'bar' && <rect x="1" width="10" height="8" rx="1" fill={color} />}
      {line.mark === 'point' && <circle cx="6" cy="4" r="3.5" fill={color} />}
      {line.mark === undefined && (
        <line x2="12" y1="4" y2="4" stroke={color} strokeWidth="2" strokeDasharray={line.dash?.join(' ')} />
      )}
    </svg>
  );
}
