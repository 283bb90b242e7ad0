import { stripVTControlCharacters } from 'node:util';

import type { WireError } from '../../src/protocol/wire.ts';

/** Why the server can't start. */
export type BridgeErrorCode =
  | 'BATCH_FILE_INVALID'
  | 'BATCH_OUTPUT_EXISTS'
  | 'BATCH_OUTPUT_FOREIGN'
  | 'CANNOT_LISTEN'
  | 'CANNOT_WRITE_PROFILE'
  | 'INVALID_ARGUMENT'
  | 'MODEL_FILES_MISSING'
  | 'MODEL_NOT_LOADED'
  | 'MODEL_NOT_READABLE'
  | 'NO_HEADLESS_TAB'
  | 'NO_PLAYWRIGHT'
  | 'NO_TARGET'
  | 'PAGE_NOT_BUILT'
  | 'PORT_IN_USE'
  | 'PROFILE_IN_USE';

export const MAX_PORT = 65_535;

const foreignAddress = (host: string): string =>
  `${host} is not an address of this machine: pass --host with one of its own, 0.0.0.0 for all of them, or leave it out for localhost.`;

/** By the code of the system's error. */
const LISTEN_FAILURES: Readonly<Record<string, (host: string, port: number) => string>> = {
  EACCES: (host, port) =>
    `This user may not listen on port ${port} of ${host}: pass --port with a number from 1024 on.`,
  EADDRINUSE: (host, port) =>
    `Port ${port} on ${host} is in use: stop what listens there, or pass --port ${port < MAX_PORT ? port + 1 : 0}.`,
  EADDRNOTAVAIL: foreignAddress,
  EAFNOSUPPORT: (host) =>
    `This machine has no network of the kind of ${host}: pass --host with an address of the other IP version.`,
  EAI_AGAIN: (host) =>
    `DNS lookup of ${host} failed: no server answered. Pass --host with an address, or try again.`,
  EINVAL: foreignAddress,
  ENOTFOUND: (host) =>
    `The name ${host} has no address: pass --host with a name or an address of this machine, or leave it out for localhost.`,
};

/** The code of a system's error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

const DISK_FULL = 'its disk is full';
const NO_RIGHT = 'this user may not';

/** Why a file or a folder can't be read or written, by the code of the system's error. */
const FILE_FAILURES: Readonly<Record<string, string>> = {
  EACCES: NO_RIGHT,
  EBUSY: 'another program uses it',
  EDQUOT: DISK_FULL,
  EIO: 'its disk has failed',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'there is no such file or folder',
  ENOSPC: DISK_FULL,
  ENOTDIR: 'its path goes through a file',
  EPERM: NO_RIGHT,
  EROFS: 'its disk is read-only',
};

/** Why a file can't be read or written: the system's error in words, or the message of any other. */
export function fileReasonOf(error: unknown): string {
  if (!(error instanceof Error && 'syscall' in error)) return reasonOf(error);
  const code = codeOf(error) ?? '';
  return FILE_FAILURES[code] ?? `the system says ${code}`;
}

/** Whether a write found no room. That is not a fault of the bridge. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
}

/** A reason why the server cannot start; the message names the remedy. */
export class BridgeError extends Error {
  override readonly name = 'BridgeError';
  /** Stable: compare this, not the message. */
  readonly code: BridgeErrorCode;

  constructor(code: BridgeErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  /** @param option Of the command line. */
  static invalid(option: string, expected: string, got: string): BridgeError {
    const message = `Expected \`--${option}\` to be ${expected}, got \`${got}\` (string)`;
    return new BridgeError('INVALID_ARGUMENT', message);
  }

  /** @param folder Of the profile. */
  static profileInUse(folder: string, cause: unknown): BridgeError {
    const message = `Another browser uses the profile ${folder}: stop the server that it belongs to, or pass --profile with another folder.`;
    return new BridgeError('PROFILE_IN_USE', message, cause);
  }

  /** @param folder Of the profile. */
  static cannotWriteProfile(folder: string, cause: unknown): BridgeError {
    const message = `Couldn't write the browser's profile in ${folder}: ${fileReasonOf(cause)}. Pass --profile with a folder that this user may write.`;
    return new BridgeError('CANNOT_WRITE_PROFILE', message, cause);
  }

  /** @param cause The code and message of the model's error. */
  static modelNotLoaded(cause: Pick<WireError, 'code' | 'message'>): BridgeError {
    return new BridgeError('MODEL_NOT_LOADED', `${cause.message} (${cause.code})`);
  }

  /** @param cause What `server.listen` failed with. */
  static cannotListen(host: string, port: number, cause: unknown): BridgeError {
    const reason = codeOf(cause) ?? '';
    const message =
      LISTEN_FAILURES[reason]?.(host, port) ??
      `Cannot listen on port ${port} of ${host} (${reasonOf(cause)}): pass another --host or --port.`;
    return new BridgeError(reason === 'EADDRINUSE' ? 'PORT_IN_USE' : 'CANNOT_LISTEN', message, cause);
  }
}

/** Why a browser failed to start, in one line: Playwright's first line and the browser's last line. */
export function launchReasonOf(error: unknown): string {
  const text = stripVTControlCharacters(reasonOf(error));
  const [first = ''] = text.split('\n');
  const lastWords = [...text.matchAll(/\[err\] (.*\S)/g)].at(-1)?.[1];
  const reason = first.replace(/^\w+\.\w+: /, '').trim();
  return lastWords === undefined ? reason : `${reason} Its last line: ${lastWords}`;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
