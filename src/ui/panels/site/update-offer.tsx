import { useEffect, useState } from 'react';

import type { TabserveClient } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import './update-offer.css';

interface UpdateOfferProps {
  /** Left out for a page that could not start. */
  readonly serve: TabserveClient | undefined;
  /** Every open tab of the page reloads then. */
  readonly onAccept: () => void;
  readonly onDecline: () => void;
}

export function UpdateOffer({ serve, onAccept, onDecline }: UpdateOfferProps) {
  const [isAccepted, setIsAccepted] = useState(false);
  const [numTabs, setNumTabs] = useState(1);
  useEffect(() => serve?.subscribe('status', (status) => setNumTabs(status.numTabs)), [serve]);
  const accept = (): void => {
    setIsAccepted(true);
    onAccept();
  };
  return (
    <output className="floating-note update-offer row">
      <span>A new version is ready.</span>
      <Button variant="primary" disabled={isAccepted} onClick={accept}>
        {numTabs > 1 ? `Reload ${numTabs} tabs` : 'Reload'}
      </Button>
      <Button variant="quiet" onClick={onDecline}>
        Later
      </Button>
    </output>
  );
}
