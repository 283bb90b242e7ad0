import { DrawnText } from '../../drawing/drawn-text.ts';
import { frames } from '../../drawing/frame-scheduler.ts';
import { isActive, type RequestView } from '../../state/request-view.ts';
import type { ServeStore } from '../../state/serve-store.ts';
import { answerOf, endOf, type Answer, type AnswerEnd } from './chats.ts';
import { MarkdownText } from './markdown-text.ts';
import { formatCount } from '../../parts/format.ts';
import { describeFigures, describeSpeed, describeState } from '../../panels/requests/describe-request.ts';

/** Eight answers in each frame, so that typing and scrolling stay smooth. */
const answerFrames = frames.paced({ numPerFrame: 8 });

/** Kept by element, because its text stays when its answer ends. */
const drawings = new WeakMap<HTMLElement, AnswerDrawing>();

/** Draws an answer into its element, and goes on while it grows. Returns the release. */
export function drawAnswer(element: HTMLElement, answer: Answer, store: ServeStore): () => void {
  const drawing = drawings.get(element) ?? new AnswerDrawing(element);
  drawings.set(element, drawing);
  const { text, end, requestId } = answer;
  if (end || requestId === undefined) {
    drawing.draw(text, end);
    return () => {};
  }
  let drawn: RequestView | undefined;
  const draw = (): void => {
    const request = store.getState().requests.get(requestId);
    if (!request || request === drawn) return;
    drawn = request;
    drawing.draw(text + answerOf(request), endOf(request));
  };
  drawing.draw(text, { status: 'waiting', numOutputTokens: 0 });
  draw();
  const unsubscribe = store.subscribe(({ requests }) => {
    if (requests.get(requestId) !== drawn) answerFrames.request(draw);
  });
  return () => {
    unsubscribe();
    answerFrames.cancel(draw);
  };
}

class AnswerDrawing {
  readonly #element: HTMLElement;
  readonly #thought: DrawnText;
  readonly #thoughtTitle: DrawnText;
  /** Undefined for an answer of a shape, which React draws. */
  readonly #text: MarkdownText | undefined;
  readonly #figures: DrawnText;

  constructor(element: HTMLElement) {
    const part = (selector: string): Element => {
      const found = element.querySelector(selector);
      if (!found) throw new Error(`An answer needs its ${selector}.`);
      return found;
    };
    this.#element = element;
    this.#thoughtTitle = new DrawnText(part('.thought summary'));
    this.#thought = new DrawnText(part('.thought-text'));
    const text = element.querySelector('.answer-text');
    this.#text = text ? new MarkdownText(text) : undefined;
    this.#figures = new DrawnText(part('.answer-figures'));
  }

  draw(answer: string, end?: AnswerEnd): void {
    const { thought = '', status = 'cancelled' } = end ?? {};
    this.#element.dataset['thinks'] = String(thought !== '');
    this.#thoughtTitle.draw(isActive(status) && answer === '' ? 'Thinking…' : 'Thoughts');
    this.#thought.draw(thought);
    this.#text?.draw(answer, !isActive(status));
    this.#figures.draw(end ? describeAnswer(end) : '');
  }
}

/** One line: how it ended, its speed and figures, and how much of the prompt was reused. */
export function describeAnswer(end: AnswerEnd): string {
  const figures = describeFigures(end);
  const state = end.isLoop ? 'Stopped: it repeated itself' : describeState(end, end.contextLength);
  const parts = [state + describeSpeed(end), figures, describeReuse(end)];
  const line = parts.filter((part) => part !== '').join(' · ');
  // A narrow column breaks between figures, never within one.
  return line.replaceAll(/(\d) (?=m?s\b|tokens?\b)/g, '$1\u00A0');
}

/** Empty where nothing was reused, or it isn't known. */
function describeReuse({ numCachedTokens = 0, numPromptTokens = 0 }: AnswerEnd): string {
  if (numCachedTokens === 0) return '';
  return `${formatCount(numCachedTokens)} of ${formatCount(numPromptTokens)} prompt tokens reused`;
}
