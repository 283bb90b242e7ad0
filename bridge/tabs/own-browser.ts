import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The starter of a tab's browser: the bridge (`--headless`) or a user. */
export type TabOwner = 'bridge' | 'user';

/** Recognizes the bridge's own browser by a cookie that no other browser has. */
export class OwnBrowser {
  /** Must be set for the page's address before the page opens. Each run of the bridge has its own value. */
  readonly cookie = { name: 'tabserve-own-browser', value: randomBytes(32).toString('hex') } as const;

  ownerOf({ headers }: Pick<IncomingMessage, 'headers'>): TabOwner {
    const cookies = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    return cookies.includes(`${this.cookie.name}=${this.cookie.value}`) ? 'bridge' : 'user';
  }
}
