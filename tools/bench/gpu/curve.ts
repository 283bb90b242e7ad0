import { CONTENDERS, type ContenderName } from './contender.ts';
import type { CellResult, GpuRun } from './results.ts';

/** Tokens per second over the rows that decode together. */
export interface Curve {
  readonly contender: ContenderName;
  readonly points: readonly { readonly rows: number; readonly tokensPerSecond: number }[];
}

const COLUMNS = 3;
const PANEL = { width: 300, height: 220, left: 46, right: 14, top: 34, bottom: 34 };
const LEGEND_HEIGHT = 28;
const LEGEND_STEP = 215;
const NUM_TICKS = 4;

/** The colors differ in lightness too, on white and on black. */
const STYLE = `
  text { font: 11px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 600 }
  .grid { stroke: #8884; fill: none }
  .line { fill: none; stroke-width: 2 }
  .tabserve { stroke: #0b6bcb; fill: #0b6bcb }
  .pipeline-one { stroke: #b45f06; fill: #b45f06; stroke-dasharray: 4 3 }
  .pipeline-list { stroke: #b45f06; fill: #b45f06 }
  .wllama { stroke: #6a7d1e; fill: #6a7d1e }
  path.line { fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd }
    .tabserve { stroke: #6cb6ff; fill: #6cb6ff }
    .pipeline-one, .pipeline-list { stroke: #f0a35e; fill: #f0a35e }
    .wllama { stroke: #c3d867; fill: #c3d867 }
    path.line { fill: none }
  }
`;

/** Draws the shortest context of each run as a panel of its own, each with its own scale. */
export function curvesOf(runs: readonly GpuRun[]): string {
  const panels = runs.flatMap((run) => {
    const curves = curvesIn(run.cells);
    return curves.length > 0 ? [{ run, curves }] : [];
  });
  const width = COLUMNS * PANEL.width;
  const height = Math.ceil(panels.length / COLUMNS) * PANEL.height + LEGEND_HEIGHT;
  const drawn = panels.map(({ run, curves }, index) => {
    const x = (index % COLUMNS) * PANEL.width;
    const y = Math.floor(index / COLUMNS) * PANEL.height + LEGEND_HEIGHT;
    return `<g transform="translate(${x} ${y})">${panelOf(run, curves)}</g>`;
  });
  const label = 'Tokens per second over the number of requests that decode together';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">`,
    `<style>${STYLE}</style>`,
    legend(),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

/** One by one is a level line: n requests take n times as long as one. Lists begin there, because a list of one is one by one. */
export function curvesIn(cells: readonly CellResult[]): readonly Curve[] {
  const decoded = cells.filter(({ kind }) => kind === 'decode');
  const shortest = Math.min(...decoded.map(({ length }) => length));
  const points = (contender: ContenderName): Curve['points'] =>
    decoded
      .flatMap(({ length, contender: name, rows, tokensPerSecond }) =>
        length === shortest && name === contender && tokensPerSecond
          ? [{ rows, tokensPerSecond: tokensPerSecond.median }]
          : [],
      )
      .toSorted((a, b) => a.rows - b.rows);
  const [alone] = points('pipeline-one');
  const most = Math.max(...decoded.map(({ rows }) => rows));
  const curves: readonly Curve[] = [
    { contender: 'tabserve', points: points('tabserve') },
    { contender: 'pipeline-one', points: alone ? [alone, { ...alone, rows: most }] : [] },
    { contender: 'pipeline-list', points: [...(alone ? [alone] : []), ...points('pipeline-list')] },
    { contender: 'wllama', points: points('wllama') },
  ];
  return curves.filter(({ points: own }) => own.length > 0);
}

function panelOf({ model, precision, cells }: GpuRun, curves: readonly Curve[]): string {
  const all = curves.flatMap(({ points }) => points);
  const rows = [...new Set(all.map((point) => point.rows))].toSorted((a, b) => a - b);
  const top = niceTop(Math.max(...all.map(({ tokensPerSecond }) => tokensPerSecond)));
  const x = (count: number): number => {
    const [first = 1, last = 1] = [rows[0], rows.at(-1)];
    const share = last === first ? 0.5 : Math.log2(count / first) / Math.log2(last / first);
    return PANEL.left + share * (PANEL.width - PANEL.left - PANEL.right);
  };
  const y = (rate: number): number =>
    PANEL.height - PANEL.bottom - (rate / top) * (PANEL.height - PANEL.top - PANEL.bottom);
  const context = Math.min(...cells.filter(({ kind }) => kind === 'decode').map(({ length }) => length));
  const ticks = Array.from({ length: NUM_TICKS + 1 }, (_, index) => (top * index) / NUM_TICKS);
  return [
    `<text class="title" x="${PANEL.left}" y="16">${escapeText(model)}, ${precision}, context ${context}</text>`,
    ...ticks.map((rate) => gridLine(rate, y(rate))),
    ...rows.map(
      (count) => `<text x="${round(x(count))}" y="${PANEL.height - 18}" text-anchor="middle">${count}</text>`,
    ),
    `<text x="${PANEL.width / 2}" y="${PANEL.height - 4}" text-anchor="middle">requests</text>`,
    ...curves.map(({ contender, points }) => {
      const path = points.map((point) => `${round(x(point.rows))} ${round(y(point.tokensPerSecond))}`);
      return `<path class="line ${contender}" d="M${path.join('L')}"/>`;
    }),
    ...curves.flatMap(({ contender, points }) =>
      contender === 'pipeline-one'
        ? []
        : points.map((point) => {
            const at = `cx="${round(x(point.rows))}" cy="${round(y(point.tokensPerSecond))}"`;
            const title = `${CONTENDERS[contender]}: ${point.tokensPerSecond.toFixed(1)} tokens/s`;
            return `<circle class="${contender}" ${at} r="2.5"><title>${title}</title></circle>`;
          }),
    ),
  ].join('');
}

function gridLine(rate: number, y: number): string {
  const line = `<path class="grid" d="M${PANEL.left} ${round(y)}H${PANEL.width - PANEL.right}"/>`;
  const label = rate.toLocaleString('en', { maximumFractionDigits: 1 });
  return `${line}<text x="${PANEL.left - 6}" y="${round(y + 4)}" text-anchor="end">${label}</text>`;
}

function legend(): string {
  const entries = Object.entries(CONTENDERS).map(([name, label], index) => {
    const x = PANEL.left + index * LEGEND_STEP;
    return `<path class="line ${name}" d="M${x} 14h22"/><text x="${x + 28}" y="18">${label}</text>`;
  });
  return `<g>${entries.join('')}</g>`;
}

/** Rounds up to 1, 2, 4, 8 or 10 times a power of ten, so that a quarter of it is a short label. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 8].find((factor) => factor * power >= value) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
