import { useState } from 'react';

/** Copies texts; `said` reports how the last copy went. */
export function useCopy(refusal = 'The browser blocked copying.') {
  const [said, setSaid] = useState('');
  const copy = async (text: string, done: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(done);
    } catch {
      setSaid(refusal);
    }
  };
  return { said, copy };
}
