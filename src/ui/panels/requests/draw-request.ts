import type { RequestId } from '../../../client/index.ts';
import { frames } from '../../drawing/frame-scheduler.ts';
import { isActive, textAt, type RequestView } from '../../state/request-view.ts';
import type { ServeStore } from '../../state/serve-store.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { describeFigures, describeMore, describeSpeed, describeState } from './describe-request.ts';
import { DrawnText } from '../../drawing/drawn-text.ts';

/** Sixteen streams in each frame, so that typing and scrolling stay smooth. */
const streamFrames = frames.paced({ numPerFrame: 16 });

/** Draws without React what changes with each token: the cell's texts and its figures. Returns the cleanup. */
export function drawRequest(
  cell: HTMLElement,
  id: RequestId,
  store: ServeStore,
  onDrawn: (request: RequestView) => void,
): () => void {
  const drawing = new RequestDrawing(cell);
  let drawn: RequestView | undefined;
  const draw = (): void => {
    const request = store.getState().requests.get(id);
    if (!request) return;
    drawn = request;
    drawing.draw(request, store.getState().status.model?.contextLength);
    onDrawn(request);
  };
  draw();
  const releases = [
    store.subscribe(({ requests }) => {
      if (requests.get(id) !== drawn) streamFrames.request(draw);
    }),
    watchSettings.subscribe(({ replay }, before) => {
      if (replay?.atMs !== before.replay?.atMs) streamFrames.request(draw);
    }),
  ];
  return () => {
    for (const release of releases) release();
    streamFrames.cancel(draw);
  };
}

class RequestDrawing {
  readonly #texts: readonly DrawnText[];
  readonly #state: DrawnText | undefined;
  readonly #figures: DrawnText | undefined;
  readonly #more: DrawnText | undefined;

  constructor(cell: HTMLElement) {
    const drawnIn = (selector: string): readonly DrawnText[] =>
      [...cell.querySelectorAll(selector)].map((element) => new DrawnText(element));
    this.#texts = drawnIn('.request-text mark');
    [this.#state] = drawnIn('.cell-state');
    [this.#figures, this.#more] = drawnIn('.cell-figures span');
  }

  draw(request: RequestView, contextLength: number | undefined): void {
    const { replay } = watchSettings.getState();
    const untilMs = replay?.run.requestIds.includes(request.id) ? replay.atMs : undefined;
    let isWhole = true;
    for (const [index, text] of this.#texts.entries()) {
      const whole = request.generatedTexts[index] ?? '';
      const shown = untilMs === undefined ? whole : textAt(request, index, untilMs);
      isWhole &&= shown.length === whole.length;
      text.draw(shown);
    }
    if (!isWhole) {
      // The end of a text that is replayed is still to come.
      this.#state?.draw(replay?.isUnattended ? 'Recording' : 'Replay');
      this.#figures?.draw('');
      this.#more?.draw('');
      return;
    }
    // One text, so that its end doesn't move where its start changes.
    // The tokens of several texts are counted together, so they don't say how full the context is.
    const limit = request.generatedTexts.length === 1 ? contextLength : undefined;
    this.#state?.draw(describeState(request, limit) + describeSpeed(request));
    this.#figures?.draw(describeFigures(request));
    // It would move with each digit of the figures before it.
    this.#more?.draw(isActive(request.status) ? '' : describeMore(request));
  }
}
