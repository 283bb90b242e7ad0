import { readStored, writeStored } from '../../browser/stored-text.ts';

const KEY = 'tabserve-tour';

/** Whether the reader has never seen the hints. Without storage they would come back at each visit, so there are none. */
export function isFirstVisit(): boolean {
  return readStored('localStorage', KEY) === null;
}

export function noteVisit(): void {
  writeStored('localStorage', KEY, 'shown');
}
