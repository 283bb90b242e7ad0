import { readFile, stat } from 'node:fs/promises';

import { isRecord } from '../../src/platform/is-record.ts';
import { parseJson } from '../../src/platform/parse-json.ts';
import { readModel } from '../../src/worker/models/families/families.ts';
import type { Op, Program } from '../../src/worker/models/program/program.ts';
import { HUB_CONFIGS } from '../../src/worker/testing/hub-configs.ts';
import { updateParts } from './marked-part.ts';

// The program of a model: that of the id or the folder on the command line is printed; docs/cpu-engine.md shows that of SmolLM2, which
// `--write` brings up to date.

const SHOWN = 'HuggingFaceTB/SmolLM2-135M-Instruct';

const HUB_ID = /^\w[\w.-]*(?:\/[\w.-]+)?$/;

/** The layer that a weight or a value is in. */
const LAYER = /^\D+\d+(?=\.)/;

const [given = ''] = process.argv.slice(2).filter((argument) => argument !== '--write');
if (given === '') {
  const text = printProgram(readModel(HUB_CONFIGS[SHOWN], undefined).program);
  await updateParts('docs/cpu-engine.md', {
    program: `\n\n\`\`\`text shown it is a list\n${text}\n\`\`\`\n\n`,
  });
} else {
  try {
    console.log(printProgram(readModel(parseConfig(await readConfig(given)), undefined).program));
  } catch (error) {
    // Errors with a code are about what was given.
    if (!(error instanceof Error) || !('code' in error)) throw error;
    fail(error.message);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

function parseConfig(text: string): unknown {
  const config = parseJson(text);
  return isRecord(config) ? config : fail(`The config.json of ${given} is damaged: it isn't a JSON object.`);
}

async function readConfig(model: string): Promise<string> {
  const found = await stat(model).catch(() => undefined);
  if (/\.gguf$/i.test(model))
    fail(`${model}: a GGUF file isn't taken. Name an id of the hub, or a folder with a config.json.`);
  if (found) return readFile(found.isDirectory() ? `${model}/config.json` : model, 'utf8');
  if (!HUB_ID.test(model))
    fail(`There is no folder ${model}. Name an id of the hub, or a folder with a config.json.`);
  const url = `https://huggingface.co/${model}/resolve/main/config.json`;
  const response = await fetch(url).catch(() => undefined);
  if (response?.ok) return response.text();
  const reason = response ? `the hub answers ${response.status}` : "the hub can't be reached";
  return fail(`Couldn't read ${url}: ${reason}. Name an id of the hub, or a folder with a config.json.`);
}

/** A line for each operation. Layers that compute the same stand once. */
function printProgram({ ops }: Program): string {
  const blocks: { first: string; last: string; text: string }[] = [];
  for (const [layer, group] of groupByLayer(ops)) {
    const lines = group.map(lineOf);
    const text = (layer === '' ? lines : lines.map((line) => `  ${line.replaceAll(`${layer}.`, '')}`)).join(
      '\n',
    );
    const before = blocks.at(-1);
    if (before?.text === text) before.last = layer;
    else blocks.push({ first: layer, last: layer, text });
  }
  const titled = blocks.map(({ first, last, text }) => {
    const title = first === last ? first : `${first} to ${last}`;
    return title === '' ? text : `${title}:\n${text}`;
  });
  return titled.join('\n');
}

/** A sum is in the layer of the operation before it. */
function groupByLayer(ops: readonly Op[]): readonly (readonly [layer: string, group: Op[]])[] {
  const groups: [string, Op[]][] = [];
  for (const op of ops) {
    const last = groups.at(-1);
    const layer = LAYER.exec(op.weights[0]?.name ?? op.outputs[0].name)?.[0] ?? '';
    if (last && (op.kind === 'add' || layer === last[0])) last[1].push(op);
    else groups.push([layer, [op]]);
  }
  return groups;
}

function lineOf({ kind, inputs, outputs, weights, ...parameters }: Op): string {
  const read = weights.map((tensor) => tensor && `${tensor.name} [${tensor.shape.join(', ')}]`);
  const { rope: _, heads, ...others } = { rope: undefined, heads: undefined, ...parameters };
  const numbers = Object.entries({ ...heads, ...others }).filter(([, value]) => value !== undefined);
  const named = numbers.map(([name, value]) => `${name}: ${value}`);
  const made = namesOf(outputs).join(', ');
  return `${made} = ${kind}(${[...namesOf(inputs), ...read, ...named].join(', ')})`;
}

/** Sums have numbers, as each is another value. */
function namesOf(values: Op['inputs'] | Op['outputs']): readonly string[] {
  return values.map(({ name }) => name.replace(/^x\.\d+$/, 'x'));
}
