import type { TermName } from './term.tsx';

const TERMS: Readonly<Record<TermName, string>> = {
  ttft: 'Time to first token: from sending a prompt to its first token, queue wait included.',
  percentiles: 'p50: half of the requests took at most this long. p95: 19 of 20 did.',
  'inter-token': 'The time from one token of a text to its next.',
  'peak-batch': 'The most sequences that shared one step of the model.',
  tokens: 'Output tokens per second, all requests together.',
  prefill: 'Prefill: the model reads a prompt, many tokens in one step.',
  decode: 'Decode: the model writes one token for each running text, all of them in one step.',
  texts: 'Texts per second, from the first batch to the last. Tokenizing before it isn’t counted.',
  'useful-tokens': 'Tokens of the texts per second, without padding.',
  padding: 'The share of the padded batches that only fills up shorter texts.',
  'batch-time': 'How long a batch takes, from its cut to its end.',
  'batch-percentiles': 'p50: half of the batches took at most this long. p95: 19 of 20 did.',
  slot: 'K/V slots: each running text has one. It holds the keys and values of its tokens, so that a step reads the newest token alone.',
};

const ID = 'term-explanation';
const MARGIN = 8;

/** Explains the term under the pointer, under a finger or with the focus. Escape or a press elsewhere closes it. */
export function showTerms(): void {
  const box = document.createElement('p');
  Object.assign(box, { id: ID, className: 'term-explanation', popover: 'manual', role: 'tooltip' });
  document.body.append(box);
  let shown: HTMLElement | undefined;
  let hovered: HTMLElement | undefined;
  const close = (): void => {
    shown?.removeAttribute('aria-describedby');
    shown = undefined;
    box.hidePopover();
  };
  const open = (term: HTMLElement | undefined): void => {
    if (term === shown) return;
    close();
    const text = Object.entries(TERMS).find(([name]) => name === term?.dataset['term'])?.[1];
    if (!term || text === undefined) return;
    shown = term;
    box.textContent = text;
    term.setAttribute('aria-describedby', ID);
    box.showPopover();
    place(box, term);
  };
  document.addEventListener('pointerover', ({ target, pointerType }) => {
    if (pointerType !== 'mouse') return;
    hovered = termAt(target);
    open(hovered ?? termAt(document.activeElement));
  });
  document.addEventListener('focusin', ({ target }) => open(termAt(target) ?? hovered));
  document.addEventListener('click', ({ target }) => open(termAt(target)));
  // It follows its term. A text that streams scrolls its own box, and moves no term.
  const onScroll = ({ target }: Event): void => {
    if (shown && target instanceof Node && target.contains(shown)) place(box, shown);
  };
  document.addEventListener('scroll', onScroll, { capture: true, passive: true });
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && close());
}

function termAt(target: EventTarget | null): HTMLElement | undefined {
  return target instanceof Element ? (target.closest<HTMLElement>('[data-term]') ?? undefined) : undefined;
}

/** Below the term, or above it where there is no room, within the window. */
function place(box: HTMLElement, term: HTMLElement): void {
  const { left, top, bottom } = term.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const isRoomy = bottom + height + MARGIN <= innerHeight;
  box.style.left = `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`;
  box.style.top = `${isRoomy ? bottom + MARGIN / 2 : top - height - MARGIN / 2}px`;
}
