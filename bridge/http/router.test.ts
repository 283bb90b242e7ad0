import { expect, it } from 'vitest';
import { nothingAt, getRoute, workRoute } from './router.ts';

const handle = (): void => undefined;
const ROUTES = [
  { path: '/', methods: { GET: handle, POST: handle } },
  workRoute('/adder', handle),
  workRoute('/v1/completions', handle),
  workRoute('/v1/chat/completions', handle),
  workRoute('/api/chat', handle),
  getRoute('/v1/models', handle),
  getRoute('/v1/models/*', handle),
  { ...getRoute('/bridge/token', handle), isPageOnly: true },
];

const ENDPOINTS =
  'The endpoints are POST /v1/completions, POST /v1/chat/completions, GET /v1/models, GET /v1/models/{name}.';

it.each([
  ['/v1', `There is nothing at /v1. ${ENDPOINTS}`],
  ['/v1/chat', `There is nothing at /v1/chat. ${ENDPOINTS}`],
  ['/v1/files', `There is nothing at /v1/files. Nothing is stored here. ${ENDPOINTS}`],
  ['/v1/responses/resp_1', `There is nothing at /v1/responses/resp_1. Nothing is stored here. ${ENDPOINTS}`],
  [
    '/v1/images/edits',
    `There is nothing at /v1/images/edits. Only text is generated, embedded and ranked here. ${ENDPOINTS}`,
  ],
  [
    '/api/pull',
    'There is nothing at /api/pull. The operator chooses the model: `npm start -- --model ID`, or in the page. The endpoints are POST /api/chat.',
  ],
  ['/chat/completions', 'There is nothing at /chat/completions. Did you mean /v1/chat/completions?'],
  ['/models', 'There is nothing at /models. Did you mean /v1/models?'],
  ['/v1/v1/completions', 'There is nothing at /v1/v1/completions. Did you mean /v1/completions?'],
  ['/v1/completions/', 'There is nothing at /v1/completions/. Did you mean /v1/completions?'],
  ['/adder/', 'There is nothing at /adder/. Did you mean /adder?'],
  ['/v10', 'There is nothing at /v10.'],
  ['/token', 'There is nothing at /token.'],
  ['//', 'There is nothing at //.'],
])('%s is answered with what there is', (path, message) => {
  expect(nothingAt(path, ROUTES)).toMatchObject({ status: 404, code: 'NOT_FOUND', message });
});
