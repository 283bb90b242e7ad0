import { readFileSync } from 'node:fs';

import { installApart } from '../../install-apart.ts';

/** A library that takes part. */
export interface Library {
  readonly name: string;
  readonly version: string;
  /** Name and version of the runtime, if that is a package of its own. */
  readonly runtime?: string;
}

const ROOT = new URL('../../../', import.meta.url);
const PEERS = new URL('peers/', import.meta.url);

/** Installs the peers that need another runtime than ours, unless the locked versions are there. */
export function installPeers(): Promise<void> {
  return installApart(PEERS, 'the peers');
}

/** Reads the versions that are installed, because those are the ones that run. */
export function describeLibraries(): readonly Library[] {
  return [
    { name: 'Tabserve', version: versionIn(ROOT, '.'), runtime: runtimeIn(ROOT) },
    {
      name: 'transformers.js',
      version: versionIn(PEERS, 'node_modules/@huggingface/transformers'),
      runtime: runtimeIn(PEERS),
    },
    { name: 'wllama', version: versionIn(ROOT, 'node_modules/@wllama/wllama') },
  ];
}

/** A library's label in a report. */
export function describeLibrary({ name, version, runtime }: Library): string {
  return `${name} ${version}${runtime === undefined ? '' : ` on ${runtime}`}`;
}

function runtimeIn(root: URL): string {
  return `onnxruntime-web ${versionIn(root, 'node_modules/onnxruntime-web')}`;
}

function versionIn(root: URL, folder: string): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL(`${folder}/package.json`, root), 'utf8'),
  );
  return manifest.version;
}
