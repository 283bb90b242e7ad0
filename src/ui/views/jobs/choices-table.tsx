import { useEffect, useState } from 'react';
import { useStore } from 'zustand';

import { Disclosure } from '../../parts/disclosure.tsx';
import { countOf, formatCount, formatShare, NO_VALUE } from '../../parts/format.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { TableHead } from '../../parts/table-head.tsx';
import { ChoiceTally } from './choice-tally.ts';
import { choicesOf } from './row-columns.ts';
import type { JobView } from './use-jobs.ts';

/** How often each choice was the answer; nothing for a job of other answers. */
export function ChoicesTable({ view }: { readonly view: JobView }) {
  const { numRetries, options } = view.info;
  const choices = choicesOf(options['responseFormat']);
  // Rows that run again are counted anew.
  return choices && <Shares key={numRetries} {...{ view, choices }} />;
}

interface SharesProps {
  readonly view: JobView;
  readonly choices: readonly string[];
}

function Shares({ view: { job, info }, choices }: SharesProps) {
  const [tally] = useState(() => new ChoiceTally(job, choices));
  useEffect(() => tally.follow(), [tally]);
  const { numRows, shares } = useStore(tally.store);
  const hasConfidence = info.options['logprobs'] !== undefined;
  return (
    <Disclosure title="Choices" note={`of ${countOf(numRows, 'answer')}`} startsOpen>
      <ScrollBox label="How often each choice was the answer" className="choice-counts preview-rows">
        <table className="scroll-table" aria-label="Choices">
          <TableHead titles={['Choice', 'Rows', 'Share', ...(hasConfidence ? ['Mean probability'] : [])]} />
          <tbody>
            {shares.map(({ choice, numRows: own, confidence }) => (
              <tr key={choice}>
                <td>{choice}</td>
                <td>{formatCount(own)}</td>
                <td>{numRows === 0 ? NO_VALUE : formatShare(own / numRows)}</td>
                {hasConfidence && <td>{own === 0 ? NO_VALUE : (confidence / own).toFixed(3)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Disclosure>
  );
}
