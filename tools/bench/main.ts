import type { Bench } from './bench.ts';

// `npm run bench [-- NAME] [OPTIONS]`

const BENCHES: Readonly<Record<string, () => Promise<{ readonly bench: Bench }>>> = {
  engine: () => import('./engine/main.ts'),
  batch: () => import('./batch/main.ts'),
  tabs: () => import('./tabs/main.ts'),
  hidden: () => import('./hidden/main.ts'),
  page: () => import('./page/main.ts'),
  load: () => import('./load/main.ts'),
  bridge: () => import('./bridge/main.ts'),
  peers: () => import('./peers/main.ts'),
  gpu: () => import('./gpu/main.ts'),
  encoder: () => import('./encoder/main.ts'),
  jobs: () => import('./jobs/main.ts'),
};

const USAGE = `Usage: npm run bench -- [NAME] [options]
  engine  decode steps, tokens per second and latency under each policy (default); a real model with --model smollm2
  batch   the request batcher by itself, beside dataloader and p-limit
  tabs    what sharing a worker between tabs costs, and a hand-over
  hidden  whether a hidden tab runs the model as fast, in an ordinary window
  page    what the page costs to load and to draw
  load    the phases of a model's load, and its next start
  bridge  what HTTP adds to a call
  peers   the same weights in transformers.js and wllama; a real model with --model smollm2
  gpu     tokens per second over the number of requests, on a GPU
  encoder texts per second of all-MiniLM-L6-v2 in the browser, one by one and in lists, beside transformers.js
  jobs    rows per second of a job beside a closed loop, prompts that are typed meanwhile, and memory
\`npm run bench -- NAME --help\` prints the options of one.`;

const [first = 'engine', ...others] = process.argv.slice(2);
const [name, args] = first.startsWith('-') ? ['engine', [first, ...others]] : [first, others];
const load = BENCHES[name];
if (load) await start((await load()).bench);
else fail(`There is no benchmark “${name}”.\n${USAGE}`);

async function start(bench: Bench): Promise<void> {
  const usage = [
    ...(first === '--help' ? [USAGE, ''] : []),
    `Usage: npm run bench -- ${name}${bench.usage ? ` [options]\n${bench.usage}` : ''}`,
  ].join('\n');
  if (args.includes('--help')) return console.log(usage);
  let measure: () => Promise<void>;
  try {
    measure = bench.prepare(args);
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
  await measure();
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
