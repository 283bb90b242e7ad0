import { useEffect, useState } from 'react';

/** How long the result of a copy is shown, ms. */
const SHOWN_MS = 2500;

/** Copies texts; `said` reports how the last copy went. */
export function useCopy(refusal = 'The browser blocked copying.') {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return undefined;
    const timer = setTimeout(() => setSaid(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
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
