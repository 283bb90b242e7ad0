import { describe, expect, it } from 'vitest';

import { answerWith, mountBridge } from '../testing/test-support.ts';

/** A bridge whose text generator answers with the prompt; `asked` is what it was asked. */
async function startGenerator() {
  const { bridge, url } = await mountBridge();
  const asked: { readonly text: unknown; readonly options: object }[] = [];
  answerWith(bridge, (text, { signal, ...options }) => {
    expect(signal).toBeInstanceOf(AbortSignal);
    asked.push({ text, options });
    return { result: () => Promise.resolve({ text: `${String(text)}!` }) };
  });
  const post = (body: NonNullable<RequestInit['body']> | null, type?: string, path = '/') =>
    fetch(url + path, {
      method: 'POST',
      body,
      ...(type !== undefined && { headers: { 'Content-Type': type } }),
    });
  return { url, asked, post };
}

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';

describe('POST /', () => {
  it.each<readonly [string, string | null, string | undefined, string]>([
    ['the query, as the tutorial sends it', null, undefined, '/?text=Once%20upon&seed=7&stop=a&stop=b'],
    ['a query beside an empty form', '', FORM, '/?text=Once%20upon&seed=7&stop=a&stop=b'],
    ['a form, as `curl -d`', 'text=Once+upon&seed=7&stop=a&stop=b', FORM, '/'],
    ['JSON', '{"text": "Once upon", "seed": 7, "stop": ["a", "b"]}', `${JSON_TYPE}; charset=utf-8`, '/'],
    ['plain text, with options in the query', 'Once upon', 'text/plain', '/?seed=7&stop=a&stop=b'],
    ['a form and a query', 'text=Once+upon&seed=7', FORM, '/?stop=a&stop=b'],
  ])('takes its fields from %s', async (_, body, type, path) => {
    const { asked, post } = await startGenerator();
    const response = await post(body, type, path);
    expect([response.status, await response.text()]).toEqual([200, 'Once upon!']);
    expect(asked).toEqual([{ text: 'Once upon', options: { seed: 7, stop: ['a', 'b'], n: 1 } }]);
  });

  it('takes the parts of a multipart form, as `curl -F`', async () => {
    const { asked, post } = await startGenerator();
    const form = new FormData();
    form.append('text', 'Once upon\r\na time: é');
    form.append('temperature', '0.5');
    expect((await post(form)).status).toBe(200);
    expect(asked).toEqual([{ text: 'Once upon\r\na time: é', options: { temperature: 0.5, n: 1 } }]);
  });

  it('answers with several continuations as JSON alone', async () => {
    const { asked, url } = await startGenerator();
    const refused = await fetch(`${url}/?text=a&n=3`);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('one continuation: for `n`, send `Accept: application/json`'),
    ]);
    const headers = { Accept: 'application/json' };
    expect((await fetch(`${url}/?text=a&n=3`, { headers })).status).toBe(200);
    expect(asked).toEqual([{ text: 'a', options: { n: 3 } }]);
  });

  it('takes a prompt that is too long for a URL', async () => {
    const { asked, post } = await startGenerator();
    const text = 'a'.repeat(100_000);
    expect((await post(new URLSearchParams({ text }))).status).toBe(200);
    expect(asked[0]?.text).toHaveLength(100_000);
  });

  it.each<readonly [string, string, string | undefined, string, number, string]>([
    [
      'a prompt in both places',
      'text=a',
      FORM,
      '/?text=b',
      400,
      '`text` is in the query and in the body: give it in one of them.',
    ],
    ['an option in both places', '{"text":"a","seed":1}', JSON_TYPE, '/?seed=2', 400, '`seed` is in the'],
    ['no prompt', 'seed=1', FORM, '/', 400, 'Expected `text` to be a prompt, got nothing.'],
    ['a prompt that is no text', '{"text": [1]}', JSON_TYPE, '/', 400, 'got `[1]`'],
    ['a JSON list', '[]', JSON_TYPE, '/', 400, 'Expected the body to be a JSON object.'],
    ['half of a JSON body', '{"text":', JSON_TYPE, '/', 400, 'expected a value at column 9, got the end.'],
    ['JSON that is called a form', '{"text": "a"}', FORM, '/', 400, 'Content-Type: application/json'],
    [
      'a query that is not UTF-8',
      'seed=1',
      FORM,
      '/?text=a%FF',
      400,
      'Expected `text` to be a text in UTF-8',
    ],
    ['a form that is not UTF-8', 'text=a%C3', FORM, '/', 400, 'Expected `text` to be a text in UTF-8'],
    ['half a character', '{"text":"a\\ud83d"}', JSON_TYPE, '/', 400, '`text` has half a character'],
    [
      'half a character in a part',
      '{"text":"a","stop":["\\udc00"]}',
      JSON_TYPE,
      '/',
      400,
      '`stop[0]` has half',
    ],
    [
      'a number without end',
      '{"text":"a","response_format":{"a":[1e400]}}',
      JSON_TYPE,
      '/',
      400,
      '`response_format.a[0]` is a number that is too large',
    ],
    [
      'an integer that would be rounded',
      '{"text":"a","seed":9007199254740993}',
      JSON_TYPE,
      '/',
      400,
      'got `9007199254740993`',
    ],
    [
      'a fraction that would be whole',
      '{"text":"a","maxNewTokens":2.9999999999999999999}',
      JSON_TYPE,
      '/',
      400,
      '`maxNewTokens` has too many digits: it would be 3',
    ],
    [
      'one in the query',
      '',
      FORM,
      '/?text=a&maxNewTokens=2.9999999999999999999',
      400,
      'got `2.9999999999999999999`',
    ],
    [
      'a number that would be 0',
      '{"text":"a","temperature":1e-400}',
      JSON_TYPE,
      '/',
      400,
      '`temperature` is a number that is too small',
    ],
    ['one in a form', 'text=a&temperature=1e-400', FORM, '/', 400, 'got `1e-400`'],
    ['a signal', '{"text":"a","signal":1}', JSON_TYPE, '/', 400, 'close the connection'],
    ['an option as a hexadecimal number', 'text=a&seed=0x10', FORM, '/', 400, 'got `0x10`'],
    ['an unknown form field', 'text=a&color=red', FORM, '/', 400, 'Unknown option `color`'],
    ['a form of no parts', 'text=a', 'multipart/form-data; boundary=b', '/', 400, 'its parts do not'],
    ['a body of another type', 'a', 'application/xml', '/', 415, 'must be one of application/x-www-form-u'],
    [
      'a file',
      '--b\r\nContent-Disposition: form-data; name="text"; filename="a.txt"\r\n\r\na\r\n--b--\r\n',
      'multipart/form-data; boundary=b',
      '/',
      400,
      'got a file: send its content',
    ],
  ])('refuses %s in words', async (_, body, type, path, status, message) => {
    const { asked, post } = await startGenerator();
    const response = await post(body, type, path);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
    expect(asked).toEqual([]);
  });

  it('takes signs of a query that begin no code, and a replacement character that was sent', async () => {
    const { asked, post } = await startGenerator();
    expect((await post('text=100%+%EF%BF%BD%zz%', FORM)).status).toBe(200);
    expect(asked[0]?.text).toBe('100% \uFFFD%zz%');
  });

  it('refuses a body that is not UTF-8', async () => {
    const { post } = await startGenerator();
    const response = await post(new Uint8Array([0xff]), 'text/plain');
    expect(await response.json()).toMatchObject({ error: { code: 'INVALID_BODY' } });
  });
});

it('tells a client whose URL is too long to send the prompt in a body', async () => {
  const { url } = await startGenerator();
  const response = await fetch(`${url}/?text=${'a'.repeat(9000)}`);
  expect(response.status).toBe(414);
  expect(await response.json()).toMatchObject({
    error: { code: 'URL_TOO_LONG', message: expect.stringContaining('in the body of a POST') },
  });
});
