import * as v from 'valibot';
import type { Validate } from '../batching/base/validate.ts';
import { isRecord } from '../platform/is-record.ts';

// Data from a channel is unknown until one of these schemas has checked it.

/** Raised with every change of a message's shape. A client of another version is asked to reload. */
export const PROTOCOL_VERSION = 18;

/** The longest ID and deployment name, in UTF-16 units. Messages with longer ones are dropped. */
export const MAX_NAME_LENGTH = 100;

/** The longest context. A message with a longer list of tokens is dropped before its entries are checked. */
export const MAX_TOKEN_IDS = 65_536;

/** The longest text that is tokenized for a caller, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 2 ** 17;

/** The most inputs of one `remoteAll`, and of the list of an HTTP request. */
export const MAX_INPUTS = 4096;

/** Messages of one turn that go together. More are sent as several. */
export const MAX_TOGETHER = 1024;

/** The longest prompt, in UTF-16 units, and the longest body of an HTTP request, in bytes. */
export const MAX_PROMPT_LENGTH = 2 ** 20;

type DeepReadonly<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined | File
    ? T
    : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** The type of a schema's output, read-only throughout. */
export type Wire<Schema extends v.GenericSchema> = DeepReadonly<v.InferOutput<Schema>>;

/** A message before its sender has signed it with the version and its own id. */
export type Unsigned<Message> = Message extends unknown
  ? Omit<Message, 'version' | 'workerId' | 'clientId'>
  : never;

/** Undefined for data of another shape. */
export function parse<Output>(schema: v.GenericSchema<unknown, Output>, data: unknown): Output | undefined {
  const result = v.safeParse(schema, data, { abortEarly: true });
  return result.success ? result.output : undefined;
}

export const version = v.literal(PROTOCOL_VERSION);

/** Any valid version, past or future. */
export const anyVersion = v.pipe(v.number(), v.integer(), v.minValue(1));

/** An ID of this type. Brands exist only for the compiler. */
// @__NO_SIDE_EFFECTS__
export function id<Id extends string>() {
  return v.custom<Id>(
    (value) => typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH,
    `Expected an ID of 1 to ${MAX_NAME_LENGTH} characters`,
  );
}

export const name = v.pipe(v.string(), v.maxLength(MAX_NAME_LENGTH));

export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Milliseconds, unless its field says otherwise. */
export const duration = v.pipe(v.number(), v.finite(), v.minValue(0));

/** Accepts the values that a validator of the core accepts. */
// @__NO_SIDE_EFFECTS__
export function passing<Value>(validate: Validate<Value>): v.GenericSchema<unknown, Value> {
  return v.custom<Value>((value) => {
    try {
      validate('value', value);
      return true;
    } catch {
      return false;
    }
  });
}

/** A list of bounded length. A longer one is dropped before its entries are checked. */
// @__NO_SIDE_EFFECTS__
export function boundedList<Entry extends v.GenericSchema>(entry: Entry, maxLength: number) {
  return v.pipe(
    v.custom<unknown[]>(
      (value) => Array.isArray(value) && value.length <= maxLength,
      `Expected a list of at most ${maxLength} entries`,
    ),
    v.array(entry),
  );
}

/** An object whose fields are not checked. */
// @__NO_SIDE_EFFECTS__
export function objectOf<Value>() {
  return v.custom<Value>(isRecord, 'Expected an object');
}

/** An object with any names. valibot's `record` leaves out `__proto__`, `constructor` and `prototype`. */
export const record = /* @__PURE__ */ objectOf<Record<string, unknown>>();

/** An object with any names, whose values are all of one kind, which transforms none. */
// @__NO_SIDE_EFFECTS__
export function recordOf<Value>(value: v.GenericSchema<unknown, Value>) {
  return v.pipe(
    objectOf<Record<string, Value>>(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const input = dataset.value;
      for (const [key, each] of Object.entries(input)) {
        const [issue] = v.safeParse(value, each).issues ?? [];
        const path = { type: 'object', origin: 'value', input, key, value: each } as const;
        if (issue) addIssue({ message: issue.message, path: [path] });
      }
    }),
  );
}

export const tokenIds = boundedList(count, MAX_TOKEN_IDS);

export const wireError = v.object({
  /** Stable: see the list of errors. */
  code: v.string(),
  /** Says what failed, then what to do. */
  message: v.string(),
  /** The option that an `INVALID_OPTION` or `UNKNOWN_OPTION` error is about. */
  param: v.exactOptional(v.string()),
  /** The numbers of a `BACK_PRESSURE` error, such as `retryAfterMs`. */
  details: v.exactOptional(recordOf(v.number())),
});

/**
 * An error as it crosses the wire: `code` is stable, and the client re-creates the class that it names.
 *
 * @interface
 */
export type WireError = Wire<typeof wireError>;
