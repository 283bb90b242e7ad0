import type { ReactNode } from 'react';

/** The terms that `show-terms.ts` explains. */
export type TermName =
  | 'ttft'
  | 'percentiles'
  | 'inter-token'
  | 'peak-batch'
  | 'tokens'
  | 'prefill'
  | 'decode'
  | 'slot'
  | 'texts'
  | 'useful-tokens'
  | 'padding'
  | 'batch-time'
  | 'batch-percentiles';

/** A word of the field. Its explanation is shown by `show-terms.ts`, which is loaded after the page. */
export function Term({ name, children }: { readonly name: TermName; readonly children: ReactNode }) {
  return (
    <button type="button" className="term" data-term={name}>
      {children}
    </button>
  );
}
