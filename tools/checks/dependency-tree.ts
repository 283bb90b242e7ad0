import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Two copies of onnxruntime-web would load two WASM modules and two GPU devices. */
const ONLY_ONCE = ['onnxruntime-web', 'onnxruntime-common'];

/** Dependencies of the tokenizer library that only Node needs, hundreds of MB: `overrides` puts an empty package there. */
const LEFT_OUT = ['onnxruntime-node', 'sharp'];

interface Dependency {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, Dependency>>;
}

const failures = [...ONLY_ONCE.flatMap(findSecondVersion), ...LEFT_OUT.flatMap(findRealPackage)];
for (const failure of failures) console.error(failure);
if (failures.length === 0)
  console.log('Dependency tree: one onnxruntime-web; onnxruntime-node and sharp are left out.');
process.exitCode = failures.length === 0 ? 0 : 1;

function findSecondVersion(name: string): string[] {
  const json = execFileSync('npm', ['ls', name, '--all', '--json'], { encoding: 'utf8' });
  const tree: Dependency = JSON.parse(json);
  const versions = new Set(collectVersions(tree, name));
  if (versions.size === 1) return [];
  return [
    `Expected one version of ${name}, found ${[...versions].join(' and ') || 'none'}: see "overrides" in package.json.`,
  ];
}

function collectVersions(tree: Dependency, name: string): string[] {
  return Object.entries(tree.dependencies ?? {}).flatMap(([key, dependency]) => [
    ...(key === name && dependency.version ? [dependency.version] : []),
    ...collectVersions(dependency, name),
  ]);
}

function findRealPackage(name: string): string[] {
  const manifest: { name: string } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  if (manifest.name === 'empty-npm-package') return [];
  return [
    `Expected ${name} to be the empty package, found ${manifest.name}: see "overrides" in package.json.`,
  ];
}
