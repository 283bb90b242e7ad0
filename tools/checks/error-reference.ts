import { globSync, readFileSync } from 'node:fs';

import { toHttpError } from '../../bridge/http/to-http-error.ts';
import { isRecord } from '../../src/platform/is-record.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { TabserveError } from '../../src/protocol/wire-errors.ts';
import { updateParts } from './marked-part.ts';

// docs/errors.md, and a page of docs/errors for each area. The files `*error.ts` and `*errors.ts` make all messages, by their functions and the static methods of their
// classes, which are called here with the names of their parameters. The cause of an error is the comment on its class.

const MESSAGES = /(?:\/errors\/[\w-]+|errors?)\.ts$/;
/** Tests, what passes the errors of others on, and what the server prints where it can't start. */
const OTHERS =
  /\.test\.ts$|test-support|\/testing\/|(?:wire|to-http)-errors?\.ts$|\/ai-sdk\/|\/prompt-api\/|^bridge\/base\/errors\.ts$/;

/** The pages of docs/errors: the errors of the first source whose path has the pattern. */
const AREAS = { models: /hub|model|onnx/, requests: /batching\/errors|deployments|jobs/, worker: /./ };

/** A comment before a class, or before a code in a list. */
const CAUSE = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s+(?:export class (\w+)|(?:\| )?'([A-Z_]+)')/g;

/** The code of an error that is made: the first argument, or a field. */
const CODE = /(?:\bnew \w+\(|\bcode\w*[:=])\s*'([A-Z\d]+(?:_[A-Z\d]+)+|[a-z]+(?:_[a-z]+)+)'/g;

/** What is known of a code: how its entry begins, and its messages. */
type Table = Map<string, Entry>;
interface Entry {
  readonly head: string;
  readonly messages: Set<string>;
  /** The page that has it. */
  readonly area?: string;
}
type Make = (...values: readonly unknown[]) => unknown;
type ErrorClass = (new (...values: readonly unknown[]) => Error) & Make;

const [errors, httpErrors, pageErrors]: readonly [Table, Table, Table] = [new Map(), new Map(), new Map()];
const sources = globSync('{src,bridge}/**/*.{ts,tsx}').filter((path) => !OTHERS.test(path));
const classNames: string[] = [];
const makers: Make[] = [];
for (const path of sources.filter((source) => MESSAGES.test(source)).toSorted()) {
  const exported = Object.values<unknown>(await import(`../../${path}`)).filter(isFunction);
  const classes = exported.filter(isErrorClass).filter((Class) => 'code' in new Class('', {}, {}));
  collectCodes(path, classes);
  classNames.push(...classes.map(({ name }) => name));
  const methods = classes.flatMap((Class) => Object.values(Object.getOwnPropertyDescriptors(Class)));
  makers.push(
    ...exported.filter((make) => !isErrorClass(make)),
    ...methods.map(({ value }) => value).filter(isFunction),
  );
}
for (const make of makers) collectMessage(make);
refuseMessagesElsewhere();
for (const area of Object.keys(AREAS)) {
  const ofArea = new Map([...errors].filter(([, entry]) => entry.area === area));
  await updateParts(`docs/errors/${area}.md`, { errors: part(ofArea, '\n\n', describeInFull) });
}
const describeInLine: Describe = (code, head, messages) => `- \`${code}\`${head}: ${messages.join(' / ')}`;
await updateParts('docs/errors.md', {
  errors: indexOf(errors),
  'http-errors': part(httpErrors, '\n', describeInLine),
  'page-errors': part(pageErrors, '\n', describeInLine),
});
refuseUndocumented();

function collectCodes(path: string, classes: readonly ErrorClass[]): void {
  const text = readFileSync(path, 'utf8');
  const [area = ''] = Object.entries(AREAS).find(([, pattern]) => pattern.test(path)) ?? [];
  for (const [, comment = '', className = 'ServerError', listed] of text.matchAll(CAUSE)) {
    const [description = ''] = comment.replaceAll(/^\s*\*+ ?/gm, '').split(/^@/m);
    const Class = classes.find(({ name }) => name === className);
    const code = listed ?? (Class && codeOf(new Class('', {}, {})));
    const head = `\`${className}\`. ${description.replaceAll(/\s+/g, ' ').trim()}`;
    if (Class && code) errors.set(code, { head, messages: new Set(), area });
  }
}

function collectMessage(make: Make): void {
  const [, parameters = ''] = /^[^(]*\(([^)]*)\)/.exec(String(make)) ?? [];
  const made = make(...(parameters.match(/\w+/g) ?? []).map(placeholder));
  const code = codeOf(made);
  const isDocumented = code !== undefined && errors.has(code);
  if (!isRecord(made) || code === undefined || (isDocumented && made['name'] === 'HttpError')) return;
  const table = isDocumented ? errors : made instanceof HttpError ? httpErrors : pageErrors;
  const head = made instanceof HttpError ? `, ${made.status}` : '';
  const entry = table.get(code) ?? { head, messages: new Set() };
  table.set(code, entry);
  // What is computed from a placeholder is no number, and its type is no other's.
  entry.messages.add(String(made['message']).replaceAll('NaN', '…').replaceAll('(object)', '({type})'));
}

/** `{name}`, and the same for each of its fields. */
function placeholder(name: string): unknown {
  const text = Object.assign(new String(`{${name}}`), {
    map: (each: (item: string) => unknown) => [each(`{${name}}`)],
    join: () => `{${name}}`,
  });
  return new Proxy(text, {
    get(target, field) {
      if (typeof field === 'string' && !(field in target)) return placeholder(field);
      const value: unknown = Reflect.get(target, field);
      return isFunction(value) ? value.bind(target) : value;
    },
  });
}

function refuseMessagesElsewhere(): void {
  const literal = new RegExp(`new (?:${classNames.join('|')})\\((?:\\s*[\\w']+,)?\\s*['"\`][A-Z$]`);
  for (const path of sources.filter((source) => !MESSAGES.test(source)))
    if (literal.test(readFileSync(path, 'utf8'))) {
      console.error(`${path} has the message of an error: move it to a file *-errors.ts.`);
      process.exitCode = 1;
    }
}

/** Also codes that are written where no message is made here, as those of the command line. */
function refuseUndocumented(): void {
  const documents = globSync('docs/**/*.md').map((path) => readFileSync(path, 'utf8'));
  const words = new Set(documents.join('\n').match(/\w+/g));
  for (const path of sources)
    for (const [, code = ''] of readFileSync(path, 'utf8').matchAll(CODE)) {
      if (words.has(code)) continue;
      console.error(
        `${path} has the code ${code}, which is in no document: make its message in a file *-errors.ts.`,
      );
      process.exitCode = 1;
    }
}

type Describe = (code: string, head: string, messages: readonly string[]) => string;

function part(table: Table, separator: string, describe: Describe): string {
  const sorted = [...table].toSorted(([a], [b]) => a.localeCompare(b));
  const texts = sorted.map(([code, { head, messages }]) => describe(code, head, [...messages]));
  return `\n\n${texts.join(separator)}\n\n`;
}

/** A line for each code, with its first sentence. */
function indexOf(table: Table): string {
  const sorted = [...table].toSorted(([a], [b]) => a.localeCompare(b));
  const rows = sorted.map(([code, { head, area }]) => {
    const status = statusOf(code);
    const [, cause = ''] = /^`\w+`\. (.*?\.)(?: |$)/.exec(head) ?? [];
    return `| [\`${code}\`](errors/${area}.md#${code.toLowerCase()}) | ${status === 500 ? '' : status} | ${cause} |`;
  });
  return `\n\n${['| code | HTTP | |', '| --- | --- | --- |', ...rows].join('\n')}\n\n`;
}

function describeInFull(code: string, head: string, messages: readonly string[]): string {
  if (messages.length === 0) throw new Error(`Nothing makes a message of ${code}.`);
  const status = statusOf(code);
  const http = status === 500 ? '' : `, HTTP ${status}`;
  const quotes = messages.map((message) => `> ${message}`).join('\n>\n');
  return `### ${code}\n\n${head.replace('. ', `${http}. `)}\n\n${quotes}`;
}

function statusOf(code: string): number {
  return toHttpError(new TabserveError(code, '')).status;
}

function codeOf(error: unknown): string | undefined {
  const code = isRecord(error) ? error['code'] : undefined;
  return typeof code === 'string' && /^\w+$/.test(code) ? code : undefined;
}

function isFunction(value: unknown): value is Make {
  return typeof value === 'function';
}

function isErrorClass(value: unknown): value is ErrorClass {
  return isFunction(value) && value.prototype instanceof Error;
}
