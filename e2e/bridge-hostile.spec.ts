import { expect, expectIdle, test } from './support/bridge-test.ts';
import { createHostileRequest } from './support/hostile-requests.ts';
import { sendRaw } from './support/raw-http.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';
import { ANY_BACKEND, IS_WHOLE } from './support/test.ts';

const NUM_REQUESTS = IS_WHOLE ? 1000 : 300;
const NUM_AT_ONCE = 8;
const NUM_SILENT = 4;

test(
  'whatever is sent gets its status or a closed connection, and the tab serves on',
  {
    tag: ANY_BACKEND,
  },
  async ({ served }) => {
    const { port, url, tab } = served;
    const random = seededRandom(runSeed());
    const requests = Array.from({ length: NUM_REQUESTS }, () => createHostileRequest(random));
    // Half-open: the server is to lose its patience with them.
    const silent = Array.from({ length: NUM_SILENT }, () =>
      sendRaw({ port, parts: ['GET /adder?number=1 HTTP/1.1\r\nHost: local'] }),
    );
    const wrong: string[] = [];
    let numAnswered = 0;
    let numEnded = 0;
    const attack = async (): Promise<void> => {
      for (let request = requests.pop(); request; request = requests.pop()) {
        const { kind, statuses, ...raw } = request;
        const { status, text } = await sendRaw({ port, ...raw });
        if (status !== undefined) numAnswered += 1;
        if (status !== undefined && !statuses.includes(status)) {
          wrong.push(`${kind}: ${status} to ${String(raw.parts[0]).slice(0, 300)}: ${text.slice(0, 500)}`);
        }
        if (/\n\s+at /.test(text)) wrong.push(`${kind}: a stack in ${text}`);
        numEnded += 1;
        if (numEnded % 50 === 0) {
          const answer = await fetch(`${url}/adder?number=41`);
          if ((await answer.text()) !== '42\n') wrong.push(`after ${kind}: the adder is lost`);
        }
      }
    };
    await Promise.all(Array.from({ length: NUM_AT_ONCE }, attack));
    expect(wrong).toEqual([]);
    expect(numAnswered).toBeGreaterThan(NUM_REQUESTS * 0.75);
    expect((await Promise.all(silent)).map(({ status }) => status)).toEqual(silent.map(() => 408));

    await expectIdle(tab);
    // All of its own that ran have ended: this one is all that is under way.
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('\nserve_num_ongoing_http_requests 1\n');
    expect((await tab.generate('Once', { maxNewTokens: 2 })).usage.numOutputTokens).toBe(2);
  },
);
