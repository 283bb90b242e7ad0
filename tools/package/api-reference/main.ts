import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { MODEL_OPTION_NAMES } from '../../../src/batching/generation/options.ts';
import { runCommand } from '../../../bridge/browser/commands.ts';
import { writeDeclarations } from '../build/declarations.ts';
import { installApart } from '../../install-apart.ts';
import { arrange } from './arrange.ts';
import { ENTRIES, pageOf } from '../entries.ts';
import { mendLinks } from './mend-links.ts';
import type { Reflection } from './model.ts';
import { REFERENCE, stampOfSources } from './stamp.ts';

// Writes docs/api from the docstrings of the package's declarations. typedoc reads TypeScript 6 at most, so it is installed in this
// folder, and reads what users get instead of the sources.

const FOLDER = new URL('./', import.meta.url);
const ROOT = fileURLToPath(new URL('../../../', FOLDER));
const TYPEDOC_TIMEOUT_MS = 180_000;

const INTRO = `# API reference

Generated from the docstrings of the package by \`npm run write -- api\`. One page for each entry:
`;

/** How the pages look. Tables keep a type's fields in view. */
const MARKDOWN_OPTIONS = {
  plugin: [fileURLToPath(new URL('node_modules/typedoc-plugin-markdown/dist/index.js', FOLDER))],
  outputFileStrategy: 'modules',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: false,
  useCodeBlocks: true,
  expandObjects: false,
  sanitizeComments: true,
  tableColumnSettings: { hideInherited: true, hideSources: true, hideModifiers: true, hideOverrides: true },
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
} as const;

/** Members without a description of their own: discriminants, brands, defaults named like their options, and inherited ones. */
const SELF_EVIDENT = [
  ...['ClientUpdate', 'RequestUpdate'].flatMap((name) => [
    `tabserve.${name}.__type.type`,
    `tabserve.${name}.__type.requestId`,
  ]),
  ...['RequestId', 'ClientId'].map((name) => `tabserve.${name}.__type.__brand`),
  'tabserve.AnswerPart.__type.type',
  // Their other place is `AnswerPart`, which says what they are.
  ...['GenerationChunk.parts', 'RequestUpdate.__type.parts'].flatMap((name) =>
    ['type', 'text', 'index', 'id', 'name'].map((field) => `tabserve.${name}.__type.${field}`),
  ),
  ...['JsonSchema', 'JsonObject', 'Choice', 'Regex', 'Grammar', 'StructuralTag'].map(
    (name) => `tabserve.${name}Format.type`,
  ),
  'tabserve.StructuralTag.type',
  // The comments of its members say what their fields are.
  ...['type', 'elements', 'json_schema', 'separator', 'tags', 'triggers'].map(
    (name) => `tabserve.StructuralPart.__type.${name}`,
  ),
  ...['', '.__type.prototype'].map((path) => `batching.AbortSignal.__type.AbortSignal${path}`),
  'prompt-api.LanguageModelClass.prototype',
  'prompt-api.SemanticEmbedderClass.prototype',
  'prompt-api.LanguageModel.oncontextoverflow',
  ...MODEL_OPTION_NAMES.map((name) => `tabserve.ModelInfo.generationDefaults.__type.${name}`),
];

await installApart(FOLDER, 'typedoc');
await writeDeclarations();
const temporary = await mkdtemp(join(tmpdir(), 'tabserve-reference-'));
try {
  const model = join(temporary, 'model.json');
  await readModel(model);
  const project: Reflection = JSON.parse(await readFile(model, 'utf8'));
  await writeFile(model, JSON.stringify(arrange(project, nameOfModule)));
  await writePages(model);
} finally {
  await rm(temporary, { recursive: true });
}
for (const { name } of ENTRIES) {
  const path = `${REFERENCE}/${pageOf(name)}`;
  const page = await readFile(path, 'utf8');
  await writeFile(path, page.replace(/^# .+$/m, `# ${name}`));
  mendLinks(path);
}
const list = ENTRIES.map(({ name }) => `- [\`${name}\`](${pageOf(name)})`).join('\n');
await writeFile(`${REFERENCE}/README.md`, [INTRO, list, '', stampOfSources(), ''].join('\n'));
await run('npx', ['oxfmt', REFERENCE]);

/** Every type that the entries mention has to be exported by one of them. */
async function readModel(json: string): Promise<void> {
  const entryPoints = ENTRIES.map(({ types }) => ROOT + types);
  const tsconfig = join(temporary, 'tsconfig.json');
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'es2025.float16', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [`${ROOT}node_modules/@types`],
  };
  await writeFile(tsconfig, JSON.stringify({ compilerOptions, files: entryPoints }));
  await runTypedoc({
    entryPoints,
    tsconfig,
    json,
    basePath: ROOT,
    // A checkout may have no remote repository. `hideSources` leaves the links out.
    disableGit: true,
    sourceLinkTemplate: '{path}',
    readme: 'none',
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    sort: ['source-order'],
    // How the types of a deployment reach `connect`, and what the core knows of the platform's AbortSignal.
    intentionallyNotExported: ['TYPES', 'MinimalAbortSignal'],
    validation: { notExported: true, invalidLink: true, notDocumented: false },
  });
}

/** Everything on the pages has to be documented. */
async function writePages(model: string): Promise<void> {
  await runTypedoc({
    ...MARKDOWN_OPTIONS,
    entryPointStrategy: 'merge',
    entryPoints: [model],
    out: ROOT + REFERENCE,
    readme: 'none',
    sort: ['source-order'],
    sortEntryPoints: false,
    intentionallyNotDocumented: SELF_EVIDENT,
    validation: { notExported: false, invalidLink: true, notDocumented: true },
    requiredToBeDocumented: [
      'Variable',
      'Function',
      'Class',
      'Interface',
      'Property',
      'Method',
      'Accessor',
      'TypeAlias',
    ],
  });
}

async function runTypedoc(options: object): Promise<void> {
  const path = join(temporary, 'typedoc.json');
  await writeFile(path, JSON.stringify(options));
  const typedoc = fileURLToPath(new URL('node_modules/typedoc/bin/typedoc', FOLDER));
  await run('node', [typedoc, '--options', path, '--treatWarningsAsErrors', '--logLevel', 'Warn']);
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { isSuccess } = await runCommand(command, args, { timeoutMs: TYPEDOC_TIMEOUT_MS });
  if (!isSuccess)
    throw new Error("Couldn't write the API reference: mend what is reported above, then run this again.");
}

/** typedoc names a module by its path below the root. */
function nameOfModule(path: string): string {
  const entry = ENTRIES.find(({ types }) => types.replace(/(?:\/index)?\.d\.ts$/, '') === path);
  if (!entry) throw new Error(`No entry of the package is the module ${path}.`);
  return pageOf(entry.name).replace(/\.md$/, '');
}
