import { expect, it } from 'vitest';

import { REQUEST_CODES, type CodedRequest } from './request-code.ts';

const REQUEST: CodedRequest = {
  prompt: `It's "so" $HOME \\ far\n`,
  options: { maxNewTokens: 12, temperature: 0.7, topK: 5, ignoreEos: true, stop: ['.'] },
  model: 'owner/name',
  server: 'http://localhost:8000',
};

it('for curl is a command whose body a shell passes on unchanged, with the names of the API', () => {
  const code = REQUEST_CODES.curl(REQUEST);
  expect(code).toContain(
    "curl http://localhost:8000/v1/completions -H 'Content-Type: application/json' \\\n",
  );
  // A shell ends the quotes, reads the escaped one, and begins them again.
  const [, body = ''] = /-d '([^]*)'$/.exec(code) ?? [];
  expect(body.replaceAll(String.raw`'\''`, '')).not.toContain("'");
  expect(JSON.parse(body.replaceAll(String.raw`'\''`, "'"))).toEqual({
    model: 'owner/name',
    prompt: REQUEST.prompt,
    max_tokens: 12,
    temperature: 0.7,
    top_k: 5,
    ignore_eos: true,
    stop: ['.'],
  });
});

it('for JavaScript names model, prompt and options as the client takes them', () => {
  const code = REQUEST_CODES.JavaScript(REQUEST);
  expect(code).toContain('connect({ worker, model: "owner/name" })');
  expect(code).toContain(
    `serve.generate(${JSON.stringify(REQUEST.prompt)}, ${JSON.stringify(REQUEST.options)})`,
  );
  expect(REQUEST_CODES.JavaScript({ ...REQUEST, options: {} })).toContain(
    `serve.generate(${JSON.stringify(REQUEST.prompt)});`,
  );
});

it('for Python has Python’s literals, and what OpenAI’s client doesn’t know as an extra body', () => {
  const code = REQUEST_CODES.Python(REQUEST);
  expect(code).toContain('base_url="http://localhost:8000/v1"');
  expect(code).toContain(
    `    prompt=${JSON.stringify(REQUEST.prompt)},\n    max_tokens=12,\n    temperature=0.7,`,
  );
  expect(code).toContain('    stop=["."],\n    extra_body={"top_k": 5, "ignore_eos": True},');
});

it('for the AI SDK has the options as the provider’s', () => {
  expect(REQUEST_CODES['AI SDK'](REQUEST)).toContain(
    `providerOptions: { tabserve: ${JSON.stringify(REQUEST.options)} }`,
  );
  expect(REQUEST_CODES['AI SDK']({ ...REQUEST, options: {} })).not.toContain('providerOptions');
});
