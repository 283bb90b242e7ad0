import type { Chosen, Group, Subject } from '../bench-case.ts';
import type { TimedRequest } from '../libraries/contender.ts';
import type { Entrant } from '../libraries/with-libraries.ts';
import type { Column, RecordedGroup } from '../record.ts';
import { sum } from '../statistics.ts';
import { samplesOf } from './burst-samples.ts';
import { SUSTAINED_MS } from './engine-requests.ts';

/** Lets shaders compile, which they do when a shape first occurs, and the browser optimize WebAssembly. */
const WARM_UP_MS = 4000;
const WARM_UP_TOKENS = 8;

/** Characters of prompts that take a CPU so long that they warm it up themselves. */
const LONG = 20_000;

const LIST_OF_ONE = 'a list of one is one by one';

/** Requests that every library gets: a table. */
export interface Requests {
  readonly caption: string;
  readonly requests: readonly TimedRequest[];
}

export function atOnce(
  prompts: readonly { readonly prompt: string }[],
  maxNewTokens: number,
): readonly TimedRequest[] {
  return prompts.map(({ prompt }) => ({ prompt, maxNewTokens, arrivalMs: 0 }));
}

/** The table of these requests. The first library and the first column are compared with. */
export function groupOf(
  { caption, requests }: Requests,
  entrants: readonly Entrant[],
  columns: readonly Column[],
  { isShort, backend }: Chosen,
): Group {
  const short = requests.map((request) => ({
    ...request,
    maxNewTokens: Math.min(request.maxNewTokens, WARM_UP_TOKENS),
  }));
  const warmsItself = backend === 'wasm' && sum(requests.map(({ prompt }) => prompt.length)) > LONG;
  const played = isShort ? short : requests;
  return {
    caption: isShort ? `${caption}, cut to ${WARM_UP_TOKENS} tokens` : caption,
    labels: ['', 'runs on'],
    columns: [...columns, { name: 'memory of the tab', unit: 'MB', digits: 0, shows: 'p50' }],
    ratio: { header: 'Tabserve over it', column: columns[0]?.name ?? '', isBaseOver: true },
    subjects: entrants.map(({ spec, runsOn, failure, run, memory }): Subject => {
      const isAlike = (other: Entrant): boolean =>
        other.spec.model === spec.model && other.spec.dtype === spec.dtype && !other.spec.listSize;
      const isListOfOne = requests.length === 1 && spec.listSize !== undefined;
      const leftOut = failure ?? (isListOfOne && entrants.some(isAlike) ? LIST_OF_ONE : undefined);
      return {
        labels: [spec.label, runsOn],
        ...(leftOut !== undefined && { leftOut }),
        ...(spec.library !== 'tabserve' && { mayFail: true }),
        ...(!warmsItself && { warmUp: () => run(short, isShort ? 0 : WARM_UP_MS) }),
        async measure() {
          const bursts = await run(played, isShort ? 0 : SUSTAINED_MS);
          // A hidden tab cools down, so the first of several bursts warms it up.
          const samples = samplesOf(bursts.length > 1 ? bursts.slice(1) : bursts, played);
          return { ...samples, 'memory of the tab': memory() };
        },
      };
    }),
  };
}

/**
 * Libraries that could not be loaded, and rows whose answers share less than `least` of their tokens with PyTorch's. Ours must be
 * the same in fp32: there, PyTorch's likeliest token leads by more than what another order of sums changes.
 */
export function wrongRows(groups: readonly RecordedGroup[], least = 0): readonly string[] {
  return groups.flatMap(({ caption, rows }) =>
    rows.flatMap(({ labels, missing, figures }) => {
      const name = `${caption}: ${labels.join(', ')}`;
      // Lack of memory in a case, for one, is a result.
      const isResult = missing === LIST_OF_ONE || missing?.startsWith('failed: ');
      if (missing !== undefined) return isResult ? [] : [`${name}: ${missing}`];
      const isExact = /Tabserve.*fp32$/.test(name);
      const share = (figures['answers as PyTorch'] ?? figures['tokens as PyTorch'])?.mean ?? 1;
      return share < (isExact ? 1 : least) ? [`${name}: other answers than PyTorch's`] : [];
    }),
  );
}
