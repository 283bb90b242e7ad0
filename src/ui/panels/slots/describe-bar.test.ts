import { describe, expect, it } from 'vitest';

import { createBar, createTabs } from '../../testing/test-support.ts';
import { describeBar, sendersOf } from './describe-bar.ts';
import { describeOwner } from './describe-owner.ts';
import { tabColor } from './tab-colors.ts';

const { tabs } = createTabs(1, 2);
const OWN = { sender: undefined, ordinal: 7, prompt: 'Once' };
const FOREIGN = { sender: 2, ordinal: undefined, prompt: 'Once' };
const OVER_HTTP = { ...FOREIGN, sender: 'HTTP' } as const;
const OF_JOB = { ...FOREIGN, sender: 'Jobs' } as const;

describe('whose request a bar is', () => {
  it('is its number in this tab, else the tab, HTTP or a job', () => {
    const owners = [OWN, FOREIGN, OVER_HTTP, OF_JOB].map((owner) => describeOwner(owner, tabs));
    expect(owners).toEqual(['#7', 'Tab 2', 'HTTP', 'Jobs']);
  });

  it('is listed once for each sender in view, this tab first', () => {
    const bars = [FOREIGN, OVER_HTTP, OWN, FOREIGN].map((owner) => createBar({ owner }));
    const senders = sendersOf([...bars, createBar()]);
    expect(senders).toEqual([undefined, 2, 'HTTP']);
    expect(senders.map(tabColor)).toEqual(['--accent', '--tab-1', '--tab-http']);
  });
});

describe('the line for a bar', () => {
  it('says how long each part took, and how it ended', () => {
    const bar = createBar({ owner: OWN, endedAtMs: 800, end: 'length' });
    expect(describeBar(bar, tabs)).toBe(
      '#7 in slot 0 · waited 100 ms · prefill 100 ms · decode 300 ms · 3 tokens · reached its limit',
    );
  });

  it('says nothing of what has not taken place', () => {
    const { firstTokenAtMs: _token, ...bar } = createBar({ owner: OWN, numTokens: 0 });
    expect(describeBar(bar, tabs)).toBe('#7 in slot 0 · waited 100 ms · 0 tokens · running');
    expect(describeBar({ ...bar, spanIndex: 1 }, tabs)).toBe(
      '#7 in slot 0 · moved here · 0 tokens · running',
    );
  });
});
