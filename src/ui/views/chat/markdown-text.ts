import type { MarkedToken, Token, Tokens } from 'marked';

import { MarkdownBlocks } from './markdown-blocks.ts';

type Drawn = Node | string | readonly (Node | string)[];

/**
 * Draws a text in Markdown into its element, and goes on while it grows: blocks that are finished stay as they are. It sets no HTML, so
 * a model's tags are shown as text. Images become links, so nothing is loaded.
 */
export class MarkdownText {
  readonly #element: Element;
  #drawn = '';
  #isWhole = false;
  #blocks = new MarkdownBlocks();
  /** Nodes of the finished blocks. */
  #numFinished = 0;

  constructor(element: Element) {
    this.#element = element;
    element.replaceChildren();
  }

  /** @param isWhole Nothing follows. */
  draw(text: string, isWhole: boolean): void {
    if (text === this.#drawn && isWhole === this.#isWhole) return;
    if (!text.startsWith(this.#drawn)) {
      [this.#drawn, this.#numFinished] = ['', 0];
      this.#blocks = new MarkdownBlocks();
    }
    const growth = this.#blocks.grow(text, isWhole);
    if (growth) {
      while (this.#element.childNodes.length > this.#numFinished) this.#element.lastChild?.remove();
      this.#element.append(...drawAll(growth.finished));
      this.#numFinished = this.#element.childNodes.length;
      this.#element.append(...drawAll(growth.last));
    } else innermostLast(this.#element).append(text.slice(this.#drawn.length));
    this.#drawn = text;
    this.#isWhole = isWhole;
  }
}

/** The element that ends last: text behind it is shown as a part of its block. */
function innermostLast(element: Element): Element {
  let innermost = element;
  while (innermost.lastChild instanceof Element && !innermost.lastChild.matches('br, hr'))
    innermost = innermost.lastChild;
  return innermost;
}

/** The code of the block whose Copy button this is. */
export function codeToCopy(target: EventTarget | null): string | undefined {
  const button = target instanceof Element ? target.closest('.code-copy') : null;
  return button?.closest('.code-block')?.querySelector('code')?.textContent ?? undefined;
}

function drawAll(tokens: readonly Token[]): readonly (Node | string)[] {
  return tokens.flatMap((token) => (isPlain(token) ? drawToken(token) : token.raw));
}

/** The lexer has no extension whose tokens could be others. */
function isPlain(token: Token): token is MarkedToken {
  return token.type !== '';
}

function drawToken(token: MarkedToken): Drawn {
  switch (token.type) {
    case 'space':
      return [];
    case 'paragraph':
      return create('p', token.tokens);
    case 'heading':
      return create('h4', token.tokens);
    case 'list':
      return drawList(token);
    case 'list_item':
      return create('li', token.tokens);
    case 'blockquote':
    case 'strong':
    case 'em':
    case 'del':
      return create(token.type, token.tokens);
    case 'hr':
    case 'br':
      return document.createElement(token.type);
    case 'code':
      return drawCode(token);
    case 'table':
      return drawTable(token);
    case 'link':
    case 'image':
      return drawLink(token);
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'codespan':
      return withText(document.createElement('code'), token.text);
    case 'text':
      return token.tokens ? drawAll(token.tokens) : token.text;
    case 'escape':
      return token.text;
    case 'html':
    case 'def':
      return token.raw;
  }
}

function create(name: string, tokens: readonly Token[]): HTMLElement {
  const element = document.createElement(name);
  element.append(...drawAll(tokens));
  return element;
}

function withText<Made extends HTMLElement>(element: Made, text: string): Made {
  element.textContent = text;
  return element;
}

function drawList({ ordered, start, items }: Tokens.List): HTMLElement {
  const list = document.createElement(ordered ? 'ol' : 'ul');
  if (ordered && start !== 1) list.setAttribute('start', String(start));
  list.append(...drawAll(items));
  return list;
}

/** The language, Copy, and the code, which the keyboard can scroll. Nothing until the first of the code is there. */
function drawCode({ text, lang = '' }: Tokens.Code): Drawn {
  if (text === '') return [];
  const block = document.createElement('div');
  block.className = 'code-block';
  const copy = withText(document.createElement('button'), 'Copy');
  copy.type = 'button';
  copy.className = 'button-quiet code-copy';
  copy.setAttribute('aria-label', 'Copy the code');
  const pre = document.createElement('pre');
  pre.tabIndex = 0;
  pre.append(withText(document.createElement('code'), text));
  block.append(withText(document.createElement('span'), lang), copy, pre);
  return block;
}

function drawTable({ header, rows }: Tokens.Table): HTMLElement {
  const table = document.createElement('table');
  for (const cells of [header, ...rows]) {
    const row = table.insertRow();
    for (const { tokens, header: isHeader } of cells) row.append(create(isHeader ? 'th' : 'td', tokens));
  }
  const box = document.createElement('div');
  box.className = 'answer-table';
  box.tabIndex = 0;
  box.append(table);
  return box;
}

/** Opens beside the page, which goes on running. An address that isn't one of the web is shown as text. */
function drawLink(token: Tokens.Link | Tokens.Image): Drawn {
  const texts = token.text === '' ? [token.href] : drawAll(token.tokens);
  if (!/^(https?|mailto):/i.test(token.href)) return texts;
  const link = document.createElement('a');
  link.href = token.href;
  link.target = '_blank';
  link.rel = 'noreferrer';
  link.append(...texts);
  return link;
}
