import { expect, it } from 'vitest';

import { listen, refusingUrl } from '../testing/test-support.ts';
import { probeUpstream } from './probe-upstream.ts';

it.each([
  [200, '{"data": []}', 'does not serve any model'],
  [200, '<html>', 'something that is not a list of models: check that --upstream'],
  [404, 'nothing here', 'HTTP status 404: check that --upstream'],
  [401, '{}', 'TABSERVE_UPSTREAM_API_KEY'],
  [503, '{}', 'look at that server'],
])('an upstream that answers %d with %s', async (status, body, problem) => {
  const { url } = await listen((_, response) => response.writeHead(status).end(body));
  const found = await probeUpstream({ url });
  expect(found).toContain(problem);
  expect(found).toContain(url);
});

it('an upstream that does not have the model', async () => {
  const { url } = await listen((_, response) => response.end('{"data": [{"id": "gpt2"}]}'));
  expect(await probeUpstream({ url, model: 'llama' })).toBe(
    `${url} does not serve llama, but gpt2: name one with --upstream-model.`,
  );
  expect(await probeUpstream({ url, model: 'gpt2' })).toBeUndefined();
});

it('an upstream that refuses is named, with what to do', async () => {
  const url = await refusingUrl();
  expect(await probeUpstream({ url })).toBe(
    `${url} cannot be reached, or it cut the connection (ECONNREFUSED): check that a server runs there and that --upstream names it.`,
  );
});

it('an upstream that says nothing is given up', async () => {
  const { url } = await listen(() => {});
  expect(await probeUpstream({ url }, 50)).toContain(`${url} did not answer within 0.05 s`);
});
