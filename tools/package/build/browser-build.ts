import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

import manifest from '../../../package.json' with { type: 'json' };
import { RUNTIME_ALIAS } from '../../site/runtime-alias.ts';
import { ENTRIES } from '../entries.ts';
import { OUTPUT, ROOT } from './paths.ts';

/** The builds of onnxruntime-web that a worker chooses from, with their `.wasm` files. */
const RUNTIME_BUILDS: Readonly<Record<string, string>> = {
  'onnxruntime-web/wasm': 'ort-wasm-simd-threaded.wasm',
  'onnxruntime-web/jspi': 'ort-wasm-simd-threaded.jspi.wasm',
};

const RUNTIME_FOLDER = 'onnxruntime';

/** Builds the entries that run in browsers, each with its dependencies, for import maps do not reach workers. Peers are the app's. */
export async function buildForBrowsers(): Promise<void> {
  for (const room of ['client', 'batching', 'worker']) {
    const entries = ENTRIES.filter(({ source }) => roomOf(source) === room);
    await buildEntries(room, Object.fromEntries(entries.map(({ script, source }) => [script, source])));
  }
  for (const [script, source] of Object.entries(BESIDE)) await buildEntries(script, { [script]: source });
  await copyRuntime();
}

/** @param room Of the entries, which share their parts. @param entries Sources, by the names of their scripts. */
async function buildEntries(room: string, entries: Readonly<Record<string, string>>): Promise<void> {
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [besideOf(room), runtimeBeside(), modelBeside(), leaveAddresses()],
    resolve: { alias: RUNTIME_ALIAS },
    build: {
      target: 'es2024',
      outDir: OUTPUT,
      emptyOutDir: false,
      // Shortens the names of variables only. Vite keeps line breaks and property names in ES libraries, which helps with debugging.
      minify: 'oxc',
      sourcemap: false,
      lib: {
        entry: Object.fromEntries(Object.entries(entries).map(([script, source]) => [script, ROOT + source])),
        formats: ['es'],
      },
      rolldownOptions: {
        external: Object.keys(manifest.peerDependencies),
        output: { entryFileNames: '[name].js', chunkFileNames: `${room}-[name]-[hash].js` },
      },
    },
  });
}

/** The hooks of React share the client's scripts, and the bridge is built for Node. */
function roomOf(source: string): string | undefined {
  const [top, room] = source.split('/');
  if (top !== 'src') return undefined;
  return room === 'react' ? 'client' : room;
}

/** Scripts that are imported on demand and import nothing at their start, with their sources. */
const BESIDE = {
  'client-server-link': 'src/client/links/server/server-link.ts',
  'client-server-jobs': 'src/client/links/server/server-jobs.ts',
};

/**
 * Leaves what asks a server in scripts that import nothing. A bundler puts what two scripts share into the app's first module, and
 * where that one awaits an answer, the code that is to bring it would wait for it.
 */
function besideOf(room: string): Plugin {
  const others = Object.entries(BESIDE).filter(([script]) => script !== room);
  const resolveId = (id: string) => {
    const found = others.find(([, source]) => id.endsWith(basename(source)));
    return found && { id: `./${found[0]}.js`, external: 'relative' as const };
  };
  return { name: 'beside', enforce: 'pre', resolveId };
}

const EMBEDDED_MODEL = /\/embedded-model\.ts$/;

/** Before an address that this build leaves as it is: the app's bundler has to see it. */
const LEAVE = '/* @vite-ignore */';
const LEFT = /\/\* @vite-ignore \*\/\s*(?=["'`]\.)/g;

/**
 * Leaves onnxruntime's modules unbundled, in a folder next to the entries: each finds its `.wasm` file next to itself.
 */
function runtimeBeside(): Plugin {
  return {
    name: 'runtime-beside',
    enforce: 'pre',
    resolveId: (id) =>
      id in RUNTIME_BUILDS
        ? { id: `./${RUNTIME_FOLDER}/${basename(bundleOf(id))}`, external: 'relative' }
        : undefined,
  };
}

/** The package has the embedded model once, in the folder of the page. */
function modelBeside(): Plugin {
  return {
    name: 'model-beside',
    enforce: 'pre',
    transform: (code, id) =>
      EMBEDDED_MODEL.test(id)
        ? code.replaceAll(/(?<=new URL\()'[./]*\/public\//g, `${LEAVE}'../dist/`)
        : undefined,
  };
}

function leaveAddresses(): Plugin {
  return {
    name: 'leave-addresses',
    generateBundle: (_, bundle) => {
      for (const file of Object.values(bundle))
        if (file.type === 'chunk') file.code = file.code.replaceAll(LEFT, '');
    },
  };
}

async function copyRuntime(): Promise<void> {
  const folder = join(OUTPUT, RUNTIME_FOLDER);
  await mkdir(folder, { recursive: true });
  for (const [id, wasm] of Object.entries(RUNTIME_BUILDS)) {
    const bundle = bundleOf(id);
    const script = await readFile(bundle, 'utf8');
    // The source map is not packed.
    await writeFile(join(folder, basename(bundle)), script.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
    await copyFile(join(dirname(bundle), wasm), join(folder, wasm));
  }
}

/** Path of a build's ES module, which is a single file. */
function bundleOf(id: string): string {
  return fileURLToPath(import.meta.resolve(id));
}
