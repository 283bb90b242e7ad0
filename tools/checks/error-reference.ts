import { globSync, readFileSync } from 'node:fs';

import { parseSync } from 'vite';

import { toHttpError } from '../../bridge/http/to-http-error.ts';
import { TabserveError } from '../../src/protocol/wire-errors.ts';
import { updateParts } from './marked-part.ts';

// docs/errors.md: the code and cause of each error come from its class and the comment on it, the messages, which name the
// remedy, from the places that make it. `--write` brings the document up to date.

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

interface Comment {
  readonly value: string;
  readonly end: number;
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly program: Node;
  readonly comments: readonly Comment[];
}

interface ErrorEntry {
  readonly code: string;
  readonly className?: string;
  readonly cause?: string;
  readonly messages: Set<string>;
}

const sources = globSync(['src/**/*.{ts,tsx}', 'bridge/**/*.ts'], {
  exclude: (path) => /\.test\.tsx?$|test-support/.test(path),
})
  .toSorted()
  .map(readSource);

const entries = new Map<string, ErrorEntry>();
const codeOfClass = new Map<string, string>();
const httpErrors = new Map<string, { readonly status: string; readonly messages: Set<string> }>();
const pageErrors = new Map<string, Set<string>>();

for (const source of sources) collectCodes(source);
for (const source of sources) collectMessages(source);
await updateParts('docs/errors.md', {
  errors: `\n\n${[...entries.values()].toSorted(byCode).map(describeEntry).join('\n\n')}\n\n`,
  'http-errors': `\n\n${[...httpErrors].toSorted(byKey).map(describeHttp).join('\n')}\n\n`,
  'page-errors': `\n\n${[...pageErrors].toSorted(byKey).map(describePage).join('\n')}\n\n`,
});

function readSource(path: string): Source {
  const text = readFileSync(path, 'utf8');
  const { program, comments } = parseSync(path, text);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a tree of nodes, each of which has these fields
  return { path, text, program: program as unknown as Node, comments };
}

/** Classes with a `code`, and the codes of a list that share a class, with the comment before each. */
function collectCodes(source: Source): void {
  for (const node of nodesOf(source.program)) {
    if (node.type === 'ClassDeclaration') collectClass(source, node);
    const isList = node.type === 'VariableDeclarator' && nameOf(node['id']) === 'CODES';
    if (!isList) continue;
    for (const literal of nodesOf(node)) {
      const code = stringIn(literal);
      const cause = code && commentBefore(source, literal.start);
      if (code && cause) entries.set(code, { code, className: 'UpstreamError', cause, messages: new Set() });
    }
  }
}

function collectClass(source: Source, node: Node): void {
  const className = nameOf(node['id']) ?? '';
  const code = codeOfClassNode(node);
  if (!code) return;
  const cause = commentBefore(source, source.text.lastIndexOf('export class', node.start + 1));
  if (!cause) throw new Error(`${source.path}: ${className} has no comment that says when it occurs`);
  codeOfClass.set(className, code);
  entries.set(code, { code, className, cause, messages: new Set() });
}

/** The code of a class that extends `codedError(name, code)`, or has it as a property. */
function codeOfClassNode(node: Node): string | undefined {
  const base = isNode(node['superClass']) ? node['superClass'] : undefined;
  if (nameOf(base?.['callee']) === 'codedError') return stringIn(listIn(base?.['arguments'])[1]);
  const property = nodesOf(node).find(
    ({ type, key }) => type === 'PropertyDefinition' && nameOf(key) === 'code',
  );
  return property && stringIn(property['value']);
}

function collectMessages(source: Source): void {
  for (const node of nodesOf(source.program)) {
    const [first, second, third] = listIn(node['arguments']);
    const className = node.type === 'NewExpression' ? nameOf(node['callee']) : undefined;
    const code = className === 'UpstreamError' ? stringIn(first) : codeOfClass.get(className ?? '');
    if (className === 'HttpError') collectHttp(source, String(first?.['value']), second, codeIn(third));
    else if (isForbidding(node)) collectHttp(source, '403', first, stringIn(second));
    else if (code)
      addMessages(entries.get(code)?.messages, source, className === 'UpstreamError' ? second : first);
    else if (node.type === 'ObjectExpression' && source.path.startsWith('src/ui/')) collectPage(source, node);
  }
}

function collectHttp(
  source: Source,
  status: string,
  message: Node | undefined,
  code: string | undefined,
): void {
  if (!code || entries.has(code)) return;
  const entry = httpErrors.get(code) ?? { status, messages: new Set() };
  httpErrors.set(code, entry);
  addMessages(entry.messages, source, message);
}

/** `HttpError.forbidden(message, code)` */
function isForbidding({ type, callee }: Node): boolean {
  if (type !== 'CallExpression' || !isNode(callee)) return false;
  return nameOf(callee['object']) === 'HttpError' && nameOf(callee['property']) === 'forbidden';
}

function codeIn(details: Node | undefined): string | undefined {
  return details && stringIn(fieldOf(details, 'code'));
}

function collectPage(source: Source, node: Node): void {
  const code = stringIn(fieldOf(node, 'code'));
  const message = fieldOf(node, 'message');
  if (!code || !message || entries.has(code)) return;
  const messages = pageErrors.get(code) ?? new Set();
  addMessages(messages, source, message);
  if (messages.size > 0) pageErrors.set(code, messages);
}

function addMessages(messages: Set<string> | undefined, source: Source, node: Node | undefined): void {
  for (const message of node ? wordings(source, node) : [])
    // The text comes from elsewhere, for example from a wire error that is thrown again.
    if (!/^\{\w+\}$/.test(message)) messages?.add(message);
}

/** The texts that an expression may have, with `{name}` for values that are known only at run time. */
function wordings(source: Source, node: Node): readonly string[] {
  switch (node.type) {
    case 'ConditionalExpression':
      return [node['consequent'], node['alternate']].flatMap((side) => wordings(source, asNode(side)));
    case 'Identifier': {
      const value = valueOf(source, node);
      return value ? wordings(source, value) : [placeholder(node)];
    }
    default:
      return [wording(source, node)];
  }
}

function wording(source: Source, node: Node): string {
  switch (node.type) {
    case 'Literal':
      return String(node['value']);
    case 'TemplateLiteral': {
      const expressions = listIn(node['expressions']).map((part) => inTemplate(source, part));
      return listIn(node['quasis'])
        .map((quasi, index) => String(Object(quasi['value']).cooked) + (expressions[index] ?? ''))
        .join('');
    }
    case 'BinaryExpression':
      return wording(source, asNode(node['left'])) + wording(source, asNode(node['right']));
    case 'CallExpression': {
      const returned = returnOf(source, nameOf(node['callee']));
      return returned ? wording(source, returned) : placeholder(node);
    }
    default:
      return placeholder(node);
  }
}

/** Text that is there or not stands in brackets; constants of a text stand for themselves. */
function inTemplate(source: Source, node: Node): string {
  const value = node.type === 'Identifier' ? valueOf(source, node) : node;
  if (value?.type === 'ConditionalExpression') {
    const sides = wordings(source, value).filter((side) => side !== '');
    return sides.length === 1 ? `[${sides.join('')}]` : placeholder(node);
  }
  return value && (stringIn(value) ?? value.type === 'TemplateLiteral')
    ? wording(source, value)
    : placeholder(node);
}

function placeholder(node: Node): string {
  if (node.type === 'UnaryExpression') return '{type}';
  const callee = node.type === 'CallExpression' ? asNode(node['callee']) : undefined;
  const isOfArguments = callee?.type === 'Identifier' || nameOf(callee?.['object']) === 'Math';
  const parts = isOfArguments ? listIn(node['arguments']) : [node];
  const names = parts.flatMap((part) => nodesOf(part)).filter(({ type }) => type === 'Identifier');
  const name = node.type === 'MemberExpression' ? names.at(-1) : names[0];
  return `{${nameOf(name) ?? '…'}}`;
}

/** The constant of this name that is nearest before its use. */
function valueOf(source: Source, use: Node): Node | undefined {
  const declarators = nodesOf(source.program).filter(
    ({ type, id }) => type === 'VariableDeclarator' && nameOf(id) === use['name'],
  );
  const before = declarators.filter(({ start }) => start < use.start);
  const init = before.at(-1)?.['init'];
  return init ? asNode(init) : undefined;
}

/** The returned expression of a function of this file, if its body is a single `return`. */
function returnOf(source: Source, name: string | undefined): Node | undefined {
  const declared = nodesOf(source.program).find(
    ({ type, id }) => type === 'FunctionDeclaration' && nameOf(id) === name,
  );
  const [statement, ...others] = declared ? listIn(asNode(declared['body'])['body']) : [];
  return statement?.type === 'ReturnStatement' && others.length === 0
    ? asNode(statement['argument'])
    : undefined;
}

function commentBefore({ text, comments }: Source, position: number): string | undefined {
  const comment = comments.findLast(({ end }) => end <= position);
  if (!comment?.value.startsWith('*') || text.slice(comment.end, position).trim() !== '') return undefined;
  const [description = ''] = comment.value.replaceAll(/^\s*\*+ ?/gm, '').split(/^@/m);
  return description.replaceAll(/\s+/g, ' ').trim();
}

function describeEntry({ code, className, cause, messages }: ErrorEntry): string {
  if (messages.size === 0)
    throw new Error(`No message of ${code} was found: what it says is not a text of its own`);
  const { status } = toHttpError(new TabserveError(code, ''));
  const http = status === 500 ? '' : `, HTTP ${status}`;
  const quotes = [...messages].map((message) => `> ${message}`);
  return [`### ${code}`, `\`${className}\`${http}. ${cause}`, quotes.join('\n>\n')].join('\n\n');
}

function describeHttp([code, { status, messages }]: readonly [
  string,
  { readonly status: string; readonly messages: ReadonlySet<string> },
]): string {
  return `- \`${code}\`, ${status}: ${[...messages].join(' / ')}`;
}

function describePage([code, messages]: readonly [string, ReadonlySet<string>]): string {
  return `- \`${code}\`: ${[...messages].join(' / ')}`;
}

function byCode(a: ErrorEntry, b: ErrorEntry): number {
  return a.code.localeCompare(b.code);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a.localeCompare(b);
}

/** The node and all nodes below it, in the order of the text. */
function nodesOf(node: Node): readonly Node[] {
  const below = Object.values(node).flatMap((field) => (Array.isArray(field) ? field : [field]));
  return [node, ...below.filter(isNode).flatMap(nodesOf)];
}

function fieldOf(node: Node, name: string): Node | undefined {
  const field = listIn(node['properties']).find(({ key }) => nameOf(key) === name);
  return field && asNode(field['value']);
}

function stringIn(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Literal' && typeof node['value'] === 'string'
    ? node['value']
    : undefined;
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : undefined;
}

function listIn(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function asNode(value: unknown): Node {
  if (isNode(value)) return value;
  throw new TypeError('Expected a node of the syntax tree');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
