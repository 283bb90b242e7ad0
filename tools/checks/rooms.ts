import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// Each folder is a room, and rooms form no circle: a room imports nothing of those that import it, not even through others. The rooms
// of the page and of the batchers also stand on floors: each floor imports those before it.

const FLOORS: Readonly<Record<string, readonly string[]>> = {
  src: [],
  'src/ui': ['browser', 'parts', 'drawing', 'state', 'panels', 'views'],
  'src/batching': ['base', 'queue', 'options', 'sampling', 'batch', 'generation', 'metrics'],
  bridge: [],
};
const NO_SOURCE = /\.test\.tsx?$|\/testing\/|test-support\.ts$/;
const IMPORT = /(?:from |import |import\()'(\.[^']+)'/g;

interface Edge {
  readonly from: string;
  readonly to: string;
  /** The files, for the message. */
  readonly path: string;
}

for (const [base, floors] of Object.entries(FLOORS)) {
  const edges = edgesOf(base);
  for (const { path } of circularOf(edges)) report(`In a circle of rooms: ${path}`);
  for (const { from, to, path } of edges) {
    const [own, other] = [floorOf(from, floors), floorOf(to, floors)];
    if (own >= 0 && other > own) report(`To a higher floor: ${path}`);
  }
}

function edgesOf(base: string): readonly Edge[] {
  const files = globSync(`${base}/**/*.{ts,tsx}`).filter((file) => !NO_SOURCE.test(file));
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, specifier = '']) => {
      const imported = join(dirname(file), specifier);
      const [from, to] = [file, imported].map((path) => relative(base, dirname(path)));
      const isInside = imported.startsWith(`${base}/`) && from !== to;
      return isInside ? [{ from: from ?? '', to: to ?? '', path: `${file} imports ${imported}` }] : [];
    }),
  );
}

/** What is left where rooms that import no other one, or that no other one imports, are taken away, again and again. */
function circularOf(edges: readonly Edge[]): readonly Edge[] {
  const [importing, imported] = [new Set(edges.map(({ from }) => from)), new Set(edges.map(({ to }) => to))];
  const left = edges.filter(({ from, to }) => importing.has(to) && imported.has(from));
  return left.length === edges.length ? left : circularOf(left);
}

function floorOf(room: string, floors: readonly string[]): number {
  return floors.indexOf(room.split('/')[0] ?? '');
}

function report(fault: string): void {
  console.error(fault);
  process.exitCode = 1;
}
