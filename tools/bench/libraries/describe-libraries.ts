import { readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);
export const PEERS = new URL('peers/', import.meta.url);

/** Reads the versions that are installed, because those are the ones that run. */
export function describeLibraries(): string {
  const transformers = versionIn(PEERS, 'node_modules/@huggingface/transformers');
  return [
    `Tabserve ${versionIn(ROOT, '.')} on ${runtimeIn(ROOT)}`,
    `transformers.js ${transformers} on ${runtimeIn(PEERS)}`,
    `wllama ${versionIn(ROOT, 'node_modules/@wllama/wllama')}`,
  ].join('; ');
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
