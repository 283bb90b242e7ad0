import type { TabserveClient } from '../../src/client/client.ts';
import type { BatchingPolicy } from '../../src/protocol/status.ts';
import { readFields } from '../../src/protocol/openai/fields.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/read-body.ts';
import type { Route } from '../http/router.ts';

/** `GET /policy` answers with the knobs of the text generator, `PATCH /policy` changes some of them. JSON has null for no limit. */
export function policyRoute(serve: TabserveClient): Route {
  const change = async (exchange: Exchange, knobs: object): Promise<void> =>
    exchange.sendJson(200, inJson(await serve.configure('text-generator', knobs)));
  return {
    path: '/policy',
    isAdmin: true,
    methods: {
      // Changes nothing, and answers with the users' own policy, also while a page's load test overrides it.
      GET: (exchange) => change(exchange, {}),
      PATCH: async (exchange) => change(exchange, fromJson(readFields(await readJson(exchange.request)))),
    },
  };
}

function inJson(policy: BatchingPolicy): object {
  return Object.fromEntries(
    Object.entries(policy).map(([knob, value]) => [knob, value === Infinity ? null : value]),
  );
}

/** The worker checks the knobs. */
function fromJson(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(fields).map(([knob, value]) => [knob, value === null ? Infinity : value]),
  );
}
