import { Button } from '../../parts/button.tsx';
import { describeGgufFile } from './describe-gguf-file.ts';
import type { GgufListing } from './use-gguf-files.ts';

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
