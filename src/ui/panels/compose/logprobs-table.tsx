import { useEffect, useState } from 'react';

import type { TokenLogprobs } from '../../../client/index.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { useServe } from '../../state/serve-context.ts';
import { TableHead } from '../../parts/table-head.tsx';
import './logprobs-table.css';

type TokenTexts = ReadonlyMap<number, string>;

const NO_TEXTS: TokenTexts = new Map();

/** How likely each token of a continuation was, beside its alternatives. */
export function LogprobsTable({ logprobs }: { readonly logprobs: readonly TokenLogprobs[] }) {
  const texts = useTokenTexts(logprobs);
  return (
    <ScrollBox className="logprobs spaced" label="Logprobs">
      <table className="scroll-table">
        <TableHead titles={['Token', 'Probability', 'Other candidates']} />
        <tbody>
          {logprobs.map(({ tokenId, logprob, top }, index) => (
            <tr key={index}>
              <th scope="row">
                <TokenText tokenId={tokenId} texts={texts} />
              </th>
              <td title={`logprob ${logprob.toFixed(3)}`}>{formatProbability(logprob)}</td>
              <td className="sentence">
                {top
                  .filter((one) => one.tokenId !== tokenId)
                  .map((one) => (
                    <span key={one.tokenId} className="logprobs-other nowrap">
                      <TokenText tokenId={one.tokenId} texts={texts} /> {formatProbability(one.logprob)}
                    </span>
                  ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function useTokenTexts(logprobs: readonly TokenLogprobs[]): TokenTexts {
  const { serve } = useServe();
  const [texts, setTexts] = useState(NO_TEXTS);

  useEffect(() => {
    let isGone = false;
    const ids = [
      ...new Set(logprobs.flatMap(({ tokenId, top }) => [tokenId, ...top.map((one) => one.tokenId)])),
    ];
    void serve.tokenTexts(ids).then(
      (known) => !isGone && setTexts(new Map(known.map((text, index) => [ids[index] ?? -1, text]))),
      // Without a worker, the table shows ids.
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [serve, logprobs]);

  return texts;
}

/** Quoted as in JSON, so spaces and line breaks are visible. A token without a text is named by its id. */
function TokenText({ tokenId, texts }: { readonly tokenId: number; readonly texts: TokenTexts }) {
  const text = texts.get(tokenId) ?? '';
  return <code title={`token ${tokenId}`}>{text === '' ? `#${tokenId}` : JSON.stringify(text)}</code>;
}

/** `12.3 %`; smaller shares differ in nothing that a reader could use. */
export function formatProbability(logprob: number): string {
  const percent = Math.exp(logprob) * 100;
  return percent < 0.1 ? '< 0.1 %' : `${percent.toFixed(1)} %`;
}
