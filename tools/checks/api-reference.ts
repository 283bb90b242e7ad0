import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { DeclarationReflection, Reflection } from 'typedoc';

import { writeDeclarations } from '../package/build/declarations.ts';
import { ENTRIES } from '../package/entries.ts';

// docs/api, from the docstrings of the package's declarations. Its first page names what it was made from. `--write` brings it up to
// date: everything public has to be documented, and every type that an entry mentions to be exported by one.

const REFERENCE = 'docs/api';
const INDEX = `${REFERENCE}/README.md`;
/** Fields of types without a name, discriminants, and what another interface's comment says. */
const SELF_EVIDENT = /\.__type(?:\.|$)|(?:Format|StructuralTag)\.type$|\.(?:prototype|oncontextoverflow)$/;

const CODE = 'Stable: compare this, not the message.';
const OPTIONS = 'tools/package/tsconfig.reference.json';

if (process.argv.includes('--write')) await write();
else if (readFileSync(INDEX, 'utf8').includes(stamp())) console.log(`${REFERENCE} is current.`);
else {
  console.error(
    `${REFERENCE} is out of date: the package's declarations have changed. Run \`npm run write -- api\`.`,
  );
  process.exitCode = 1;
}

async function write(): Promise<void> {
  await writeDeclarations();
  // typedoc doesn't read the API of TypeScript 7.
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
  });
  const { Application, Comment, Converter, ReflectionKind, TSConfigReader } = await import('typedoc');
  const application = await Application.bootstrapWithPlugins(
    { tsconfig: OPTIONS, entryPoints: ENTRIES.map(({ types }) => types), out: REFERENCE },
    [new TSConfigReader()],
  );
  const { Accessor, Class, Interface, Method, Property, TypeAlias, Variable } = ReflectionKind;
  const MEMBERS = [Method, Property, ReflectionKind.Constructor];
  const VALUES = [Accessor, Class, ReflectionKind.Function, Method, Property, Variable];
  application.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) module.name = entryOf(module);
    for (const member of Object.values(project.reflections)) {
      if (!member.parent?.name.endsWith('Error') || !member.kindOf(MEMBERS)) continue;
      if (member.name === 'code') member.comment ??= new Comment([{ kind: 'text', text: CODE }]);
      else if (isOfEveryError(member)) project.removeReflection(member);
    }
  });
  const project = await application.convert();
  if (project) {
    for (const made of Object.values(project.reflections))
      if (made.isDeclaration() && made.kindOf([...VALUES, Interface, TypeAlias]) && !isDocumented(made))
        application.logger.error(`${made.getFullName()} has no docstring`);
    application.validate(project);
    await application.generateOutputs(project);
  }
  if (!project || application.logger.hasErrors() || application.logger.hasWarnings())
    throw new Error("Couldn't write the API reference: mend what is reported above, then run this again.");
  writeFileSync(INDEX, `${readFileSync(INDEX, 'utf8')}\n${stamp()}\n`);
  execFileSync('npx', ['oxfmt', REFERENCE]);
}

/** As an import names it; typedoc names a module by its path. */
function entryOf({ name }: Reflection): string {
  const entry = ENTRIES.find(
    ({ types }) => types.includes(`${name}.d.ts`) || types.includes(`${name}/index.d.ts`),
  );
  return entry?.name ?? name;
}

/** The package's own code makes errors, by static methods, but for the one that `checkInput` throws. */
function isOfEveryError({ name, parent, flags }: Reflection): boolean {
  if (`${parent?.name}.${name}` === 'InvalidOptionError.of') return false;
  return flags.isStatic || ['constructor', 'name', 'message', 'stack', 'cause'].includes(name);
}

function isDocumented(made: DeclarationReflection): boolean {
  const parts = [made, ...(made.getAllSignatures() ?? [])];
  return parts.some((part) => part.hasComment()) || SELF_EVIDENT.test(made.getFullName());
}

function stamp(): string {
  const hash = createHash('sha256');
  for (const path of globSync(['dist-package/types/**/*.d.ts', OPTIONS]).toSorted())
    hash.update(`${path}\0${readFileSync(path, 'utf8')}\0`);
  return `<!-- made from ${hash.digest('hex').slice(0, 16)} -->`;
}
