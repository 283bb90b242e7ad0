import { describe, expect, it } from 'vitest';

import type { ClientId } from '../../../client/index.ts';
import { createBar } from '../../testing/test-support.ts';
import { describeBar, sendersOf } from './describe-bar.ts';
import { describeOwner } from './describe-owner.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
const idOfClient = (name: string): ClientId => name as ClientId;
const other = idOfClient('07c3d2aa');
const OWN = { clientId: undefined, ordinal: 7, prompt: 'Once' };
const FOREIGN = { clientId: other, ordinal: undefined, prompt: 'Once' };
const OVER_HTTP = { ...FOREIGN, isHttp: true } as const;

describe('whose request a bar is', () => {
  it('is its number in this tab, else the tab, HTTP or a job', () => {
    const ofJob = { ...FOREIGN, clientId: idOfClient('jobs') };
    expect([OWN, FOREIGN, OVER_HTTP, ofJob].map(describeOwner)).toEqual(['#7', 'tab 07c3', 'HTTP', 'job']);
  });

  it('is listed once for each sender in view, this tab first', () => {
    const bars = [FOREIGN, OVER_HTTP, OWN, FOREIGN].map((owner) => createBar({ owner }));
    const senders = sendersOf([...bars, createBar()]);
    expect(senders.map(({ name }) => name)).toEqual(['this tab', 'tab 07c3', 'HTTP']);
    expect(new Set(senders.map(({ color }) => color)).size).toBe(3);
    expect(senders.at(-1)?.color).toBe('--tab-http');
  });
});

describe('the line for a bar', () => {
  it('says how long each part took, and how it ended', () => {
    const bar = createBar({ owner: OWN, endedAtMs: 800, end: 'length' });
    expect(describeBar(bar)).toBe(
      '#7 in slot 0 · waited 100 ms · prefill 100 ms · decode 300 ms · 3 tokens · reached its limit',
    );
  });

  it('says nothing of what has not taken place', () => {
    const { firstTokenAtMs: _token, ...bar } = createBar({ owner: OWN, numTokens: 0 });
    expect(describeBar(bar)).toBe('#7 in slot 0 · waited 100 ms · 0 tokens · running');
    expect(describeBar({ ...bar, spanIndex: 1 })).toBe('#7 in slot 0 · moved here · 0 tokens · running');
  });
});
