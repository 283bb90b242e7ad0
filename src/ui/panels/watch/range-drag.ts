import { recordedView, type ServeStore } from '../../state/serve-store.ts';
import { msAt, sharedAxis, type Plot } from './shared-axis.ts';
import { wholeSpanOf, zoomOf } from './time-span.ts';
import { showAll, zoomTo } from './zoom.ts';

/** A press that moves less is a click, CSS pixels. */
const MIN_DRAG = 6;

/**
 * A drag over a plot chooses the time that all charts and the slots show; a double click or Escape shows all of it again. The box
 * around the plot draws the selection. Returns the release.
 */
export function followDrag(host: HTMLElement, store: ServeStore, plotOfHost: () => Plot): () => void {
  const drag = new RangeDrag(host, store, plotOfHost);
  return () => drag.release();
}

class RangeDrag {
  readonly #host: HTMLElement;
  readonly #store: ServeStore;
  readonly #plotOfHost: () => Plot;
  readonly #listening = new AbortController();
  #startX: number | undefined;
  #isClickOver = false;

  constructor(host: HTMLElement, store: ServeStore, plotOfHost: () => Plot) {
    this.#host = host;
    this.#store = store;
    this.#plotOfHost = plotOfHost;
    const { signal } = this.#listening;
    host.addEventListener('pointerdown', (event) => this.#begin(event), { signal });
    host.addEventListener('pointermove', (event) => this.#move(event), { signal });
    host.addEventListener('pointerup', (event) => this.#end(event), { signal });
    host.addEventListener('pointercancel', () => this.#cancel(), { signal });
    host.addEventListener('dblclick', showAll, { signal });
    // Before the click of the bar below the end of the drag.
    host.addEventListener('click', (event) => this.#isClickOver && event.stopImmediatePropagation(), {
      signal,
      capture: true,
    });
    document.addEventListener('keydown', (event) => this.#onKey(event), { signal });
  }

  release(): void {
    this.#cancel();
    this.#listening.abort();
  }

  #begin(event: PointerEvent): void {
    this.#isClickOver = false;
    if (event.button === 0) this.#startX = this.#xOf(event);
  }

  #move(event: PointerEvent): void {
    const x = this.#xOf(event);
    if (this.#startX === undefined || Math.abs(x - this.#startX) < MIN_DRAG) return;
    // From here on, because a captured press would click nothing below it.
    this.#host.setPointerCapture(event.pointerId);
    const { style, dataset } = this.#box;
    dataset['selecting'] = '';
    style.setProperty('--selection-start', `${Math.min(x, this.#startX)}px`);
    style.setProperty('--selection-width', `${Math.abs(x - this.#startX)}px`);
  }

  #end(event: PointerEvent): void {
    const [startX = 0, x] = [this.#startX, this.#xOf(event)];
    const isDrag = this.#startX !== undefined && Math.abs(x - startX) >= MIN_DRAG;
    this.#cancel();
    this.#isClickOver = isDrag;
    if (!isDrag) return;
    const view = recordedView(this.#store);
    const [span, plot] = [sharedAxis.spanOf(view), this.#plotOfHost()];
    const [from, to] = [msAt(Math.min(x, startX), span, plot), msAt(Math.max(x, startX), span, plot)];
    zoomTo({ startMs: from, endMs: to }, wholeSpanOf(view));
  }

  #cancel(): void {
    this.#startX = undefined;
    delete this.#box.dataset['selecting'];
  }

  #onKey({ key }: KeyboardEvent): void {
    if (key !== 'Escape' || document.querySelector('dialog[open]')) return;
    if (this.#startX === undefined && zoomOf(wholeSpanOf(recordedView(this.#store)))) showAll();
    this.#cancel();
  }

  get #box(): HTMLElement {
    return this.#host.parentElement ?? this.#host;
  }

  #xOf({ clientX }: PointerEvent): number {
    const { left, width } = this.#plotOfHost();
    const x = clientX - this.#host.getBoundingClientRect().left;
    return Math.min(Math.max(x, left), left + width);
  }
}
