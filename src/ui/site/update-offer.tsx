import { useState } from 'react';

import { Button } from '../button.tsx';
import './update-offer.css';

interface UpdateOfferProps {
  /** Open tabs of the page: all of them reload. */
  readonly numTabs: number;
  readonly onAccept: () => void;
  readonly onDecline: () => void;
}

export function UpdateOffer({ numTabs, onAccept, onDecline }: UpdateOfferProps) {
  const [isAccepted, setIsAccepted] = useState(false);
  const accept = (): void => {
    setIsAccepted(true);
    onAccept();
  };
  return (
    <aside className="update-offer" role="status">
      <p>A new version is ready.</p>
      <Button variant="primary" disabled={isAccepted} onClick={accept}>
        {numTabs > 1 ? `Reload ${numTabs} tabs` : 'Reload'}
      </Button>
      <Button variant="quiet" onClick={onDecline}>
        Later
      </Button>
    </aside>
  );
}
