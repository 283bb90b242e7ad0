import type { RequestId } from '../../worker/protocol/ids.ts';
import { formatCount, formatMs, formatNumber, NO_VALUE } from '../format.ts';
import { createDrawTurns } from '../state/draw-turns.ts';
import type { RequestView } from '../state/request-view.ts';
import type { ServeStore } from '../state/serve-store.ts';

export const REQUEST_FIGURES: readonly { name: string; read: (request: RequestView) => string }[] = [
  { name: 'Queue wait', read: ({ queueWaitMs }) => formatMs(queueWaitMs) },
  { name: 'TTFT', read: ({ ttftMs }) => formatMs(ttftMs) },
  { name: 'Tokens', read: ({ numOutputTokens }) => formatCount(numOutputTokens) },
  { name: 'Tokens/s', read: ({ tokensPerSecond }) => formatNumber(tokensPerSecond) },
  { name: 'Seed', read: ({ seed }) => (seed === undefined ? NO_VALUE : String(seed)) },
];

/** Draws sixteen streams fifteen times a second each. */
const turns = createDrawTurns(4);

/** Draws what changes with each token without React: the continuations in the row's marks and its figures. Returns the release. */
export function drawRequest(
  row: HTMLElement,
  id: RequestId,
  store: ServeStore,
  onDrawn: (request: RequestView) => void,
): () => void {
  const marks = [...row.querySelectorAll('.request-text mark')].map((mark) => new DrawnText(mark));
  const figures = [...row.querySelectorAll('.request-figures dd')].map((figure) => new DrawnText(figure));
  let drawn: RequestView | undefined;
  const draw = (): void => {
    const request = store.getState().requests.get(id);
    if (!request) return;
    drawn = request;
    for (const [index, mark] of marks.entries()) mark.draw(request.generatedTexts[index] ?? '');
    for (const [index, { read }] of REQUEST_FIGURES.entries()) figures[index]?.draw(read(request));
    onDrawn(request);
  };
  draw();
  const unsubscribe = store.subscribe(({ requests }) => {
    if (requests.get(id) !== drawn) turns.request(draw);
  });
  return () => {
    unsubscribe();
    turns.cancel(draw);
  };
}

/** An element's text. It remembers what it has drawn, because reading the element would copy the text. */
class DrawnText {
  readonly #node = new Text();
  #drawn = '';

  constructor(element: Element) {
    element.replaceChildren(this.#node);
  }

  draw(text: string): void {
    const drawn = this.#drawn;
    if (text === drawn) return;
    this.#drawn = text;
    // Appending keeps the layout of the text before it.
    if (text.startsWith(drawn)) this.#node.appendData(text.slice(drawn.length));
    else this.#node.data = text;
  }
}
