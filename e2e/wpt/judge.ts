import { readFileSync } from 'node:fs';

/** Tests that are not to pass. */
interface Exception {
  /** The beginning of a file's path below `ai/language-model/`. */
  readonly file: string;
  /** A test of the file; all where it is left out. */
  readonly test?: string;
  readonly reason: string;
}

const EXPECTED: Readonly<Record<'doesNotApply' | 'fails', readonly Exception[]>> = JSON.parse(
  readFileSync(new URL('expected.json', import.meta.url), 'utf8'),
);

/** Result of a test, as testharness.js reports it. */
export interface TestResult {
  readonly name: string;
  readonly status: 'pass' | 'fail' | 'timeout' | 'not-run' | 'precondition-failed';
  readonly message: string;
}

export interface Verdict {
  /** `unexpected`: it should pass and does not, or it should not and does. */
  readonly kind: 'pass' | 'fails' | 'does-not-apply' | 'unexpected';
  readonly reason: string;
}

/** Why no test of a file applies; undefined where one does. */
export function reasonToSkip(file: string): string | undefined {
  return EXPECTED.doesNotApply.find(
    (exception) => exception.test === undefined && file.startsWith(exception.file),
  )?.reason;
}

export function judge(file: string, { name, status, message }: TestResult): Verdict {
  const isMeant = (exception: Exception): boolean =>
    file.startsWith(exception.file) && (exception.test === undefined || exception.test === name);
  const inapplicable = EXPECTED.doesNotApply.find(isMeant);
  if (inapplicable) return { kind: 'does-not-apply', reason: inapplicable.reason };
  const failing = EXPECTED.fails.find(isMeant);
  const hasPassed = status === 'pass';
  if (hasPassed === Boolean(failing)) {
    const reason = hasPassed ? 'passes, though it is listed to fail' : `${status}: ${message}`;
    return { kind: 'unexpected', reason };
  }
  return failing ? { kind: 'fails', reason: failing.reason } : { kind: 'pass', reason: '' };
}
