import { expect, it } from 'vitest';

import { listen, refusingUrl } from '../testing/test-support.ts';
import { probeTarget } from './fetch-target.ts';

it.each([
  [200, '{"data": []}', 'does not serve the model any'],
  [200, '<html>', 'something that is not a list of models. Check that it is the address'],
  [404, 'nothing here', 'HTTP status 404. Check that it is the address'],
  [401, '{}', 'TABSERVE_UPSTREAM_API_KEY'],
  [503, '{}', 'look at that server'],
])('a target that answers %d with %s', async (status, body, problem) => {
  const { url } = await listen((_, response) => response.writeHead(status).end(body));
  const found = await probeTarget({ url });
  expect(found).toContain(problem);
  expect(found).toContain(url);
});

it('a target that does not have the model', async () => {
  const { url } = await listen((_, response) => response.end('{"data": [{"id": "gpt2"}]}'));
  expect(await probeTarget({ url, model: 'llama' })).toMatch(
    /the model llama: it has gpt2\..*--upstream-model/,
  );
  expect(await probeTarget({ url, model: 'gpt2' })).toBeUndefined();
});

it('a target that refuses is named, with what to do', async () => {
  const url = await refusingUrl();
  expect(await probeTarget({ url })).toMatch(new RegExp(`${url},.*ECONNREFUSED.*Check its address`));
});

it('a target that says nothing is given up', async () => {
  const { url } = await listen(() => {});
  expect(await probeTarget({ url }, 50)).toContain(`${url} did not answer within 0.05 s`);
});
