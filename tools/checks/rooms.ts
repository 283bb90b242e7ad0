import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// Each folder is a room, and rooms form no circle: a room imports nothing of those that import it, not even through others. The rooms
// of the page and of the batchers also stand on floors: each floor imports those before it.

const HOUSES = ['src', 'bridge', 'tools', 'e2e'];
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  'src/ui': ['browser', 'parts', 'drawing', 'state', 'panels', 'views'],
  'src/batching': ['base', 'queue', 'options', 'sampling', 'batch', 'generation', 'metrics'],
};
const NO_SOURCE = /\/node_modules\/|\.test\.tsx?$|\/testing\/|test-support\.ts$/;
const IMPORT = /(?:from |import |import\()'(\.[^']+)'/g;

interface Edge {
  readonly from: string;
  readonly to: string;
  /** The files, for the message. */
  readonly path: string;
}

for (const house of HOUSES)
  for (const { path } of shortestCircle(edgesOf(house))) report(`In a circle of rooms: ${path}`);
for (const [base, floors] of Object.entries(FLOORS)) {
  for (const { from, to, path } of edgesOf(base)) {
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

/** One import for each step of a circle; none where there is no circle. */
function shortestCircle(edges: readonly Edge[]): readonly Edge[] {
  const steps = [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()];
  const circles = steps.flatMap((step) => {
    const back = shortestWay(steps, step.to, step.from);
    return back ? [[step, ...back]] : [];
  });
  return circles.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function shortestWay(steps: readonly Edge[], start: string, end: string): readonly Edge[] | undefined {
  const reached = new Map<string, readonly Edge[]>([[start, []]]);
  // It grows while it is read.
  for (const [room, way] of reached) {
    if (room === end) return way;
    for (const step of steps)
      if (step.from === room && !reached.has(step.to)) reached.set(step.to, [...way, step]);
  }
  return undefined;
}

function floorOf(room: string, floors: readonly string[]): number {
  return floors.indexOf(room.split('/')[0] ?? '');
}

function report(fault: string): void {
  console.error(fault);
  process.exitCode = 1;
}
