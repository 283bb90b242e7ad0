import type { SlotBar } from '../state/slot-history.ts';
import type { TimeSpan } from '../watch/time-span.ts';
import { highlightRequests, watchSettings } from '../watch/watch-settings.ts';
import { describeBar } from './describe-bar.ts';
import { BANDS_HEIGHT, lanesHeightOf, placeLane, type SlotScene } from './draw-slots.ts';
import { barAt, xOf } from './slot-layout.ts';

interface PointerElements {
  readonly field: HTMLElement;
  readonly readout: HTMLElement;
}

interface Timeline {
  readonly span: TimeSpan;
  /** Undefined until the first drawing. */
  readonly scene: SlotScene | undefined;
  readonly width: number;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Shares the moment under the pointer, and highlights and describes the bar there. A click traces its request. */
export class SlotPointer {
  readonly #field: HTMLElement;
  readonly #readout: HTMLElement;
  readonly #timeline: Timeline;
  readonly #listening = new AbortController();
  #place: Place | undefined;

  constructor({ field, readout }: PointerElements, timeline: Timeline) {
    this.#field = field;
    this.#readout = readout;
    this.#timeline = timeline;
    const { signal } = this.#listening;
    field.addEventListener('pointermove', (event) => this.#move(event), { signal });
    field.addEventListener('pointerleave', () => this.#leave(), { signal });
    field.addEventListener('pointercancel', () => this.#leave(), { signal });
    field.addEventListener('click', (event) => this.#trace(event), { signal });
  }

  /** Call it after each drawing: the bar under a still pointer changes while time goes on. */
  update(): void {
    if (!this.#place) return;
    const { x } = this.#place;
    watchSettings.setState({ cursorSeconds: this.#timeAt(x) / 1000 });
    const bar = this.#barUnder(this.#place);
    this.#field.style.cursor = bar ? 'pointer' : '';
    this.#readout.hidden = !bar;
    highlightRequests(bar ? [bar.requestId] : []);
    if (bar) this.#describe(bar, x);
  }

  release(): void {
    this.#listening.abort();
    this.#leave();
  }

  #move({ offsetX: x, offsetY: y }: PointerEvent): void {
    this.#place = { x, y };
    this.update();
  }

  #leave(): void {
    if (!this.#place) return;
    this.#place = undefined;
    this.#readout.hidden = true;
    highlightRequests();
    watchSettings.setState({ cursorSeconds: undefined });
  }

  #trace({ offsetX: x, offsetY: y }: MouseEvent): void {
    const bar = this.#barUnder({ x, y });
    if (bar) watchSettings.setState({ tracedId: bar.requestId });
  }

  #timeAt(x: number): number {
    const { span, width } = this.#timeline;
    return span.startMs + (x / width) * (span.endMs - span.startMs);
  }

  #barUnder({ x, y }: Place): SlotBar | undefined {
    const { scene } = this.#timeline;
    if (!scene) return undefined;
    const lane = Math.floor(((y - BANDS_HEIGHT) / lanesHeightOf(scene)) * scene.numLanes);
    return barAt(scene.placed, xOf(scene.window, this.#timeAt(x)), lane);
  }

  #describe(bar: SlotBar, x: number): void {
    const { scene, width } = this.#timeline;
    if (!scene) return;
    this.#readout.textContent = describeBar(bar);
    const { top } = placeLane(scene, bar.lane);
    // Its left end at the left edge, its right end at the right edge.
    const share = (x / width) * 100;
    this.#readout.style.transform = `translate(calc(${x}px - ${share}%), calc(${top - 3}px - 100%))`;
  }
}
