import { expect, it } from 'vitest';

import { withLead } from './slot-motion.ts';

it('draws beyond now at the same scale, in whole pixels', () => {
  const window = { startMs: 0, endMs: 10_000, untilMs: 10_000, width: 873 };
  const lead = withLead(window);
  expect(lead.width).toBe(899);
  expect(lead.endMs / lead.width).toBeCloseTo(window.endMs / window.width);
  expect(lead).toMatchObject({ startMs: 0, untilMs: lead.endMs });
});
