import { renderToString } from 'react-dom/server';
import { expect, it } from 'vitest';

import { useGeneration, useStats, useTabserve } from './index.ts';

function Story() {
  const { serve, status, error } = useTabserve({
    worker: () => {
      throw new Error('No tab leads here.');
    },
  });
  const { text, isRunning } = useGeneration(serve);
  const stats = useStats(serve);
  return <p>{JSON.stringify({ status, error, stats, text, isRunning })}</p>;
}

it('on a server the hooks render an app that has not connected yet', () => {
  expect(renderToString(<Story />)).toContain('{&quot;text&quot;:&quot;&quot;,&quot;isRunning&quot;:false}');
});

it.each([
  ['useTabserve', 'options', () => useTabserve(JSON.parse('null'))],
  ['useGeneration', 'serve', () => useGeneration(JSON.parse('5'))],
  ['useStats', 'serve', () => useStats(JSON.parse('{}'))],
])('%s refuses a wrong argument by name', (name, param, useIt) => {
  function Wrong() {
    useIt();
    return null;
  }
  expect(() => renderToString(<Wrong />)).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', param, message: expect.stringContaining(`${name}()`) }),
  );
});
