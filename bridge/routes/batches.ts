import * as v from 'valibot';
import type { LazyBatchStore } from '../batches/batch-store.ts';
import { pageOf } from '../batches/records.ts';
import { BATCH_URLS } from '../batches/rows.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { parseBody } from '../../src/protocol/openai/fields.ts';
import { readJson } from '../http/read-body.ts';
import { readQuery } from '../http/read-input.ts';
import { recordOf } from '../../src/protocol/wire.ts';
import type { Route } from '../http/router.ts';
import { PAGE_FIELDS, readPage } from './read-page.ts';

/** OpenAI's. */
const LIMITS = { byDefault: 20, max: 100 };

const CANCEL = '/cancel';

const metadata = v.pipe(
  recordOf(v.pipe(v.string('a text'), v.maxLength(512, 'a text of at most 512 characters'))),
  v.check(
    (given) => Object.keys(given).every((name) => name.length <= 64),
    'an object of texts with names of at most 64 characters',
  ),
  v.maxEntries(16, 'an object of at most 16 texts'),
);

const newBatch = v.object({
  input_file_id: v.string('the id of a file'),
  endpoint: v.picklist(BATCH_URLS, `one of ${BATCH_URLS.join(', ')}`),
  completion_window: v.literal('24h', '24h'),
  metadata: v.optional(metadata),
});

/** `/v1/batches` as OpenAI's. A batch has no deadline: its rows wait while no tab is open. */
export function batchRoutes(store: LazyBatchStore): readonly Route[] {
  return [
    {
      path: '/v1/batches',
      methods: {
        async POST(exchange) {
          const { metadata: given = null, ...asked } = parseBody(newBatch, await readJson(exchange.request));
          const batches = await store.get();
          exchange.sendJson(200, await batches.create({ ...asked, metadata: given }));
        },
        async GET(exchange) {
          const { all } = await store.get();
          const query = readQuery(exchange.url.searchParams, PAGE_FIELDS);
          exchange.sendJson(200, pageOf(all, readPage(query, LIMITS)));
        },
      },
    },
    {
      path: '/v1/batches/*',
      methods: {
        async GET(exchange) {
          const batches = await store.get();
          exchange.sendJson(200, batches.get(exchange.rest).batch);
        },
        async POST(exchange) {
          const { rest, url } = exchange;
          if (!rest.endsWith(CANCEL)) throw HttpError.notFound(url.pathname);
          const batches = await store.get();
          const run = batches.get(rest.slice(0, -CANCEL.length));
          await run.cancel();
          exchange.sendJson(200, run.batch);
        },
      },
    },
  ];
}
