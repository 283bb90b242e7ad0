import type { ClientId } from '../../worker/protocol/ids.ts';

const OTHER_TABS = ['--tab-1', '--tab-2', '--tab-3', '--tab-4', '--tab-5'] as const;

export type TabColor = '--tab-own' | (typeof OTHER_TABS)[number];

/** One color for this tab. Other tabs take turns, and each keeps its color while the page is open. */
export class TabColors {
  readonly #known = new Map<ClientId, TabColor>();

  of(clientId: ClientId | undefined): TabColor {
    if (clientId === undefined) return '--tab-own';
    const known = this.#known.get(clientId);
    if (known) return known;
    const next = OTHER_TABS[this.#known.size % OTHER_TABS.length] ?? '--tab-1';
    this.#known.set(clientId, next);
    return next;
  }
}
