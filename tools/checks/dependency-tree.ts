import { readFileSync } from 'node:fs';

/** Two copies of onnxruntime-web would load two WASM modules and two GPU devices. */
const ONLY_ONCE = ['onnxruntime-web', 'onnxruntime-common'];

/** Dependencies of transformers.js, which a bench measures, that only Node needs, hundreds of MB: `overrides` puts an empty package there. */
const LEFT_OUT = ['onnxruntime-node', 'sharp'];

interface Lock {
  readonly packages: Readonly<Record<string, { readonly name?: string; readonly version?: string }>>;
}

const { packages }: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const copiesOf = (name: string) =>
  Object.entries(packages).flatMap(([path, locked]) =>
    path.endsWith(`node_modules/${name}`) ? [locked] : [],
  );
const doubled = ONLY_ONCE.filter((name) => copiesOf(name).length !== 1);
const real = LEFT_OUT.filter((name) => copiesOf(name).some((locked) => locked.name !== 'empty-npm-package'));
for (const name of doubled)
  console.error(`Expected one ${name}, found ${copiesOf(name).length}: see "overrides" in package.json.`);
for (const name of real)
  console.error(`Expected ${name} to be the empty package: see "overrides" in package.json.`);
if (doubled.length + real.length > 0) process.exitCode = 1;
else console.log('Dependency tree: one onnxruntime-web; onnxruntime-node and sharp are left out.');
