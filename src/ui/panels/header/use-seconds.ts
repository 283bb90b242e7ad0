import { useEffect, useState } from 'react';

/** Now, on this tab's clock, once a second. */
export function useSeconds(): number {
  const [nowMs, setNowMs] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
