import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Who runs the browser that a tab is open in: `--headless` starts the bridge's own, any other is a user's. */
export type TabOwner = 'bridge' | 'user';

/** Tells the browser that this bridge runs from all others, by a cookie that only that browser is given. */
export class OwnBrowser {
  /** Set it for the page's address before the page opens. Each run of the bridge has its own value. */
  readonly cookie = { name: 'tabserve-own-browser', value: randomBytes(32).toString('hex') } as const;

  ownerOf({ headers }: Pick<IncomingMessage, 'headers'>): TabOwner {
    const cookies = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    return cookies.includes(`${this.cookie.name}=${this.cookie.value}`) ? 'bridge' : 'user';
  }
}
