export { PROTOCOL_VERSION } from './wire.ts';
export {
  checkOf,
  defaultText,
  expectedText,
  OPTION_NAMES,
  optionFromText,
  optionOf,
  TEXT_GENERATOR,
} from './generation.ts';
export { END_TYPES } from './requests.ts';
export type * from './wire.ts';
export type * from './ids.ts';
export type * from './generation.ts';
export type * from './requests.ts';
export type * from './models.ts';
export type * from './ladder.ts';
export type * from './recovery.ts';
export type * from './status.ts';
export type * from './stats.ts';
export type * from './client-messages.ts';
export type * from './worker-messages.ts';
export type * from './host-messages.ts';
