import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';

import { JsonTree } from './json-tree.tsx';

function nested(depth: number): unknown {
  return JSON.parse('{"a":['.repeat(depth) + ']}'.repeat(depth));
}

it.each([1000, 20_000])(
  'JSON of %d objects in each other is cut at a depth, with its rest on one line',
  (depth) => {
    const markup = renderToStaticMarkup(<JsonTree value={nested(depth)} />);
    expect(markup.match(/<details/g)).toHaveLength(24);
    expect(markup.match(/<code/g)).toHaveLength(1);
  },
);

it('JSON that is less deep is shown as lists', () => {
  const markup = renderToStaticMarkup(<JsonTree value={nested(11)} />);
  expect(markup.match(/<details/g)).toHaveLength(22);
  expect(markup).not.toContain('<code');
});
