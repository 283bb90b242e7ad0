import type { FoundModel } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { formatCompact, formatParameters } from '../../parts/format.ts';
import { describeGgufFile, FITS } from './describe-gguf-file.ts';
import type { ModelSearch } from './use-model-search.ts';
import type { GgufListing } from './use-gguf-files.ts';

interface FoundModelsProps {
  readonly found: ModelSearch;
  readonly onLoad: (id: string) => void;
  readonly onListFiles: (id: string) => void;
}

/** The models that a search has found, each with a button that loads it or lists its GGUF files. */
export function FoundModels({ found: { query, models }, onLoad, onListFiles }: FoundModelsProps) {
  if (models.length === 0) return <output>The hub has no model named {query}.</output>;
  return (
    <ul className="stack ruled-off" aria-label={`Models named ${query}`}>
      {models.map((model) => {
        const { id, isGguf, obstacle, fit } = model;
        return (
          <li key={id} className="row">
            <span className="stored-name wrap grow">
              {id}{' '}
              <small className="muted" data-fits={obstacle === '' && fit !== 'too-large'}>
                {describeFound(model)}
              </small>
            </span>
            <Button
              variant="quiet"
              disabled={obstacle !== ''}
              aria-label={isGguf ? `Files of ${id}` : `Load ${id}`}
              onClick={() => (isGguf ? onListFiles(id) : onLoad(id))}
            >
              {isGguf ? 'Files' : 'Load'}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}

/** `135M parameters · fits this device · 1.2M downloads`, or why the model doesn't run. */
function describeFound({ numParameters, isGguf, fit, obstacle, numDownloads }: FoundModel): string {
  const parts = [
    ...(numParameters === undefined ? [] : [formatParameters(numParameters)]),
    ...(isGguf ? ['GGUF'] : []),
    ...(obstacle === '' ? (fit ? [FITS[fit]] : []) : [obstacle]),
    `${formatCompact(numDownloads)} downloads`,
  ];
  return parts.join(' · ');
}

interface GgufFilesProps {
  readonly listing: GgufListing;
  readonly onLoad: (id: string, file: string) => void;
}

/** The GGUF files of a repository, each with a button that loads it. */
export function GgufFiles({ listing: { id, files }, onLoad }: GgufFilesProps) {
  if (files.length === 0) return <output>{id} has no GGUF files.</output>;
  return (
    <ul className="stack ruled-off" aria-label={`GGUF files of ${id}`}>
      {files.map((file) => (
        <li key={file.name} className="row">
          <span className="stored-name wrap grow">
            {file.name}{' '}
            <small className="muted" data-fits={file.fit !== 'too-large'}>
              {describeGgufFile(file)}
            </small>
          </span>
          <Button variant="quiet" aria-label={`Load ${file.name}`} onClick={() => onLoad(id, file.name)}>
            Load
          </Button>
        </li>
      ))}
    </ul>
  );
}
