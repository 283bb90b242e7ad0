import { readFileSync } from 'node:fs';

import { installApart } from '../install-apart/install-apart.ts';

/** A library that takes part, and the runtime that it computes on where that is a package of its own. */
export interface Library {
  readonly name: string;
  readonly version: string;
  readonly runtime?: string;
}

const ROOT = new URL('../../', import.meta.url);
const PEERS = new URL('peers/', import.meta.url);
/** Installs the peers that need another runtime than ours, unless the locked versions are there. */
export function installPeers(): Promise<void> {
  return installApart(PEERS, 'the peers');
}

/** Read from what is installed, so that the versions are those that ran. */
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

function runtimeIn(root: URL): string {
  return `onnxruntime-web ${versionIn(root, 'node_modules/onnxruntime-web')}`;
}

function versionIn(root: URL, folder: string): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL(`${folder}/package.json`, root), 'utf8'),
  );
  return manifest.version;
}
