import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { runCommand } from '../browser/commands.ts';

/** A library that takes part. */
export interface Library {
  readonly name: string;
  readonly version: string;
  /** Name and version of the runtime, if that is a package of its own. */
  readonly runtime?: string;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

const ROOT = new URL('../../', import.meta.url);
const PEERS = new URL('peers/', import.meta.url);
const INSTALL_TIMEOUT_MS = 300_000;

/** Installs the peers that need another runtime than ours, unless the locked versions are there. */
export async function installPeers(): Promise<void> {
  if (isInstalled(readLockfile('package-lock.json'), readLockfile('node_modules/.package-lock.json'))) return;
  console.log('Installing the peers from tools/bench-peers/peers.');
  const { isSuccess } = await runCommand(
    'npm',
    ['ci', '--ignore-scripts', '--prefix', fileURLToPath(PEERS)],
    {
      timeoutMs: INSTALL_TIMEOUT_MS,
    },
  );
  if (!isSuccess) throw new Error("Couldn't install the peers: check the network, then run this again.");
}

/** Whether npm's record of a `node_modules` folder has every locked package in the locked version. */
export function isInstalled(locked: Lockfile, installed: Lockfile): boolean {
  return Object.entries(locked.packages).every(
    ([path, { version }]) => path === '' || installed.packages[path]?.version === version,
  );
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

function readLockfile(path: string): Lockfile {
  const file = new URL(path, PEERS);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { packages: {} };
}
