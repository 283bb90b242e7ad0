import { useEffect, useRef } from 'react';

import type { DtypeChoice } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { formatBytes } from '../../parts/format.ts';
import { describePicked } from './describe-load.ts';
import { useModelPlans } from './use-model-plans.ts';

interface PickedFilesProps {
  readonly files: readonly File[];
  readonly choice: DtypeChoice;
  readonly onLoad: () => void;
  readonly onCancel: () => void;
}

/** What picked files are and what they will take, before they are loaded. */
export function PickedFiles({ files, choice, onLoad, onCancel }: PickedFilesProps) {
  const read = useModelPlans(files);
  const plan = read?.plans.find(({ dtype, isAuto }) => (choice === 'auto' ? isAuto : dtype === choice));
  const name = nameOf(files);
  const loadRef = useRef<HTMLButtonElement>(null);
  const canLoad = plan?.obstacle === '';
  useEffect(() => {
    if (canLoad) loadRef.current?.focus();
  }, [canLoad]);
  return (
    <section
      className="load-state stack loose"
      aria-label="Picked files"
      aria-live="polite"
      aria-busy={!read}
    >
      <p>
        <strong>{name}</strong> {formatBytes(files.reduce((total, { size }) => total + size, 0))}
        {!read && ', reading what it is…'}
      </p>
      {plan && (
        <p className="note" data-fits={canLoad}>
          {describePicked(plan)}
        </p>
      )}
      {read?.error && <ErrorLine error={read.error} />}
      <div className="actions">
        <Button
          ref={loadRef}
          variant="primary"
          aria-label={`Load ${name}`}
          disabled={!canLoad}
          onClick={onLoad}
        >
          Load
        </Button>
        <Button onClick={onCancel}>Not now</Button>
      </div>
    </section>
  );
}

/** The folder's name, or the file's, with the number of others. */
function nameOf(files: readonly File[]): string {
  const [first, ...others] = files;
  const [folder] = first?.webkitRelativePath.split('/') ?? [];
  const name = folder || first?.name || '';
  return others.length > 0 && !folder ? `${name} and ${others.length} more` : name;
}
